/* SPDX-License-Identifier: MIT
 * cmocka with the headers it wants before its own, in the order it wants them. */
#ifndef ZW_TESTS_SUPPORT_TEST_H
#define ZW_TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
