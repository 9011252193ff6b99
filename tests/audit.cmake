# tests of audit
