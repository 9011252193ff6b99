# tests of pane
