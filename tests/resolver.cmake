# tests of resolver
