#ifndef COMMANDS_LAB_H
#define COMMANDS_LAB_H

#include "base/err.h"

/* The verbs of `lab`, a file each for those that belong together. */
int command_lab_build(int argc, char **argv);
int command_lab_exec(int argc, char **argv);
int command_lab_up(int argc, char **argv);
int command_lab_down(int argc, char **argv);
int command_lab_status(int argc, char **argv);
int command_lab_shell(int argc, char **argv);
int command_lab_agent(int argc, char **argv);

/* Says what went wrong, with the guest's last lines if there are any, and
 * returns the exit status for it. */
int lab_fail(const struct err *e, const char *console);

#endif
