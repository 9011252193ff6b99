# tests of broker
