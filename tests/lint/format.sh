#!/bin/sh
# The tree is formatted as .clang-format says.
set -eu
cd "${ZW_SRC:-.}"
command -v clang-format >/dev/null || { echo "clang-format is missing"; [ -z "${ZW_MUST_WORK:-}" ] && exit 77; exit 1; }
find src ui proxy sandbox tests -name '*.[ch]' | sort | xargs clang-format --dry-run -Werror
