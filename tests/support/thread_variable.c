// SPDX-License-Identifier: BSD-3-Clause
// A library in which each thread has a variable of its own, as in those that drivers of OpenCL are made of.
static __thread void* variable[2];

void* variable_of_this_thread(void) { return variable; }
