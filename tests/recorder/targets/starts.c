// starts HOW PROGRAM [ARGUMENTS...]: allocates 30 blocks, starts PROGRAM in the way asked for, waits for its
// end, says how it ended and allocates 40 more.
//
//     vfork, spawn, spawnp, system, popen; exec, execvpe, execveat, number_of_execve, number_of_execveat (by
//     syscall): becomes it, never to return; execs N: becomes itself N times first; failing_exec: tries to
//     become what there is not, goes on; bare: gives it no environment
//
// starts shells: runs shells by system and popen, from several threads at once, and says what became of them;
// then which variables it has.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static void* (*volatile do_malloc)(size_t) = malloc;
static void (*volatile do_free)(void*) = free;

static void allocate(long blocks) {
  for (long i = 0; i < blocks; ++i) do_free(do_malloc(7777));
}

static void say(const char* what, int status) {
  char line[100];
  const int length = snprintf(line, sizeof line, "%s: %d\n", what, status);
  if (write(1, line, (size_t)length) != length) _exit(98);
}

// The words as a shell would read them; none of them needs quotes.
static const char* line_of(char** words) {
  static char line[8000];
  for (; *words != NULL; ++words) {
    strcat(line, *words);
    strcat(line, " ");
  }
  return line;
}

static int after_exec(char** words, char** variables, int through_vfork) {
  int status = -1;
  const pid_t child = through_vfork ? vfork() : fork();
  if (child == 0) {
    execve(words[0], words, variables);
    _exit(127);
  }
  waitpid(child, &status, 0);
  return status;
}

static int through_pipe(char** words) {
  FILE* output = popen(line_of(words), "r");
  char buffer[500];
  while (output != NULL && fgets(buffer, sizeof buffer, output) != NULL) say(buffer, (int)strlen(buffer));
  return output == NULL ? -1 : pclose(output);
}

static void* use_shells(void* argument) {
  for (int i = 0; i < 6; ++i) {
    char line[300] = "";
    FILE* output = popen("echo $NUMBER ${LD_PRELOAD-none} ${MALLARD_RECORD_SPOOL-none}", "r");
    if (output == NULL || fgets(line, sizeof line, output) == NULL || pclose(output) != 0) return argument;
    if (strcmp(line, "7 none none\n") != 0) return argument;
    if (system("test -z \"$LD_PRELOAD$MALLARD_RECORD_SPOOL\" && exit 5") != 5 << 8) return argument;
  }
  return NULL;
}

static void take_note(int unused) { (void)unused; }

static int with_shells(void) {
  setenv("NUMBER", "7", 1);
  signal(SIGINT, take_note);
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, use_shells, environ);
  for (int i = 0; i < 4; ++i) {
    void* result = NULL;
    pthread_join(threads[i], &result);
    printf("%d\n", result == NULL);
  }
  struct sigaction now;
  sigaction(SIGINT, NULL, &now);
  printf("%d %d %d\n", now.sa_handler == take_note, system(NULL), system("kill -9 $$"));
  for (char** variable = environ; *variable != NULL; ++variable) puts(*variable);
  return 0;
}

int main(int count, char** arguments) {
  static char* none[] = {NULL};
  if (count == 2 && strcmp(arguments[1], "shells") == 0) return with_shells();
  if (count < 3) return 99;
  const char* how = arguments[1];
  char** words = arguments + 2;
  int status = -1;
  pid_t child = 0;
  allocate(30);
  if (strcmp(how, "vfork") == 0) {
    status = after_exec(words, environ, 1);
  } else if (strcmp(how, "bare") == 0) {
    status = after_exec(words, none, 0);
  } else if (strcmp(how, "spawn") == 0) {
    if (posix_spawn(&child, words[0], NULL, NULL, words, environ) == 0) waitpid(child, &status, 0);
  } else if (strcmp(how, "spawnp") == 0) {
    if (posix_spawnp(&child, words[0], NULL, NULL, words, environ) == 0) waitpid(child, &status, 0);
  } else if (strcmp(how, "system") == 0) {
    status = system(line_of(words));
  } else if (strcmp(how, "popen") == 0) {
    status = through_pipe(words);
  } else if (strcmp(how, "exec") == 0) {
    execv(words[0], words);
  } else if (strcmp(how, "execvpe") == 0) {
    execvpe(words[0], words, environ);
  } else if (strcmp(how, "execveat") == 0) {
    execveat(AT_FDCWD, words[0], words, environ, 0);
  } else if (strcmp(how, "number_of_execve") == 0) {
    syscall(SYS_execve, words[0], words, environ);
  } else if (strcmp(how, "number_of_execveat") == 0) {
    syscall(SYS_execveat, open("/", O_PATH | O_CLOEXEC), words[0] + 1, words, environ, 0);
  } else if (strcmp(how, "execs") == 0) {
    const long more = atol(words[0]);
    if (more == 0) execv(words[1], words + 1);
    sprintf(words[0], "%ld", more - 1);
    execv(arguments[0], arguments);
  } else if (strcmp(how, "failing_exec") == 0) {
    status = execv("/no/such/program", words);
  }
  say(how, status);
  allocate(40);
  return 6;
}
