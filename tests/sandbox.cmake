# tests of sandbox
