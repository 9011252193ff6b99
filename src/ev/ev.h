/* SPDX-License-Identifier: MIT
 * The event loop of every process: a thin layer over libevent, the only place that knows it.
 *
 * Callbacks are short and named on_<source>_<event>. Nothing is freed under a callback: an object
 * that ends inside one goes to zev_defer(), which runs at the end of the turn. zev_run() is never
 * nested. */
#ifndef ZW_EV_EV_H
#define ZW_EV_EV_H

#include <stdbool.h>
#include <stdint.h>

struct zev_loop;
struct zev_io;
struct zev_timer;
struct zev_signal;

enum zev_what { ZEV_READ = 1 << 0, ZEV_WRITE = 1 << 1 };

/** Never NULL. zev_loop_free(NULL) is ok; free the loop's objects first. */
struct zev_loop *zev_loop_new(void);
void zev_loop_free(struct zev_loop *loop);

/** Runs until zev_stop(). Returns 0, or -EIO when the backend failed. */
int zev_run(struct zev_loop *loop);
/** Ends zev_run() after the current turn. */
void zev_stop(struct zev_loop *loop);

/** Runs @fn(@arg) once at the end of this turn (or of the first turn), in the order of the calls. */
void zev_defer(struct zev_loop *loop, void (*fn)(void *arg), void *arg);

/**
 * Watches @fd (borrowed, must outlive the object) for @what (enum zev_what or-ed, 0 = none yet).
 * Level triggered, stays until changed.
 * Ownership: caller, zev_io_free(); NULL is ok there.
 */
struct zev_io *zev_io_new(struct zev_loop *loop, int fd, unsigned what,
			  void (*on_ready)(int fd, unsigned what, void *arg), void *arg);
void zev_io_set(struct zev_io *io, unsigned what);
void zev_io_free(struct zev_io *io);

/** A one-shot timer, not running yet. zev_timer_start() also restarts; callbacks may restart it. */
struct zev_timer *zev_timer_new(struct zev_loop *loop, void (*on_timer)(void *arg), void *arg);
void zev_timer_start(struct zev_timer *t, int64_t delay_ms);
void zev_timer_stop(struct zev_timer *t);
bool zev_timer_is_running(const struct zev_timer *t);
void zev_timer_free(struct zev_timer *t);

/** Turns a signal into a callback of the loop. */
struct zev_signal *zev_signal_new(struct zev_loop *loop, int signo,
				  void (*on_signal)(int signo, void *arg), void *arg);
void zev_signal_free(struct zev_signal *s);

#endif
