// shells: runs shells by system and popen, from several threads at once, and says what became of them; then
// which variables it has.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char** environ;

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

int main(void) {
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
