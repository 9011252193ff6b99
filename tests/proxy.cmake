# tests of proxy
