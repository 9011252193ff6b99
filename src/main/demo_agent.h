/* SPDX-License-Identifier: MIT
 * The scripted agent of `zwatch demo`. It runs inside the sandbox and does what an agent does:
 * writes a file, talks to a program of its own, reaches for docker.sock and for a site. */
#ifndef ZW_MAIN_DEMO_AGENT_H
#define ZW_MAIN_DEMO_AGENT_H

/**
 * Runs the script in the current folder, and again on request.
 *
 * @docker_sock  path of the socket to reach for
 * Returns       exit status
 */
int demo_agent_run(const char *docker_sock);

#endif
