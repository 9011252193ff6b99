# tests of whole
