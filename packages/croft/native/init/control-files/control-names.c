#define _GNU_SOURCE
#include "init/control-files/control-names.h"

#include <string.h>

#include "init/control-files/control-names.gen.h"

static const char *allowed = "";

void allow_control(const char *names) { allowed = names; }

int is_allowed(const char *name) {
  const size_t length = strlen(name);
  for (const char *at = allowed; *at != 0; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ','))
    if (strcspn(at, ",") == length && strncmp(at, name, length) == 0) return 1;
  return 0;
}

/* Compares the first byte itself: that is enough for nearly every name of a large tree, and a call is not free. */
static int is_one_of(const char *name, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (name[0] == names[i][0] && strcmp(name, names[i]) == 0) return !is_allowed(name);
  return 0;
}

#define IS_ONE_OF(name, names) is_one_of(name, names, sizeof names / sizeof *names)

int is_control_directory(const char *name) { return IS_ONE_OF(name, directories); }

static int is_project_of_an_editor(const char *name) {
  const size_t length = strlen(name), end = strlen(".code-workspace");
  return length > end && strcmp(name + length - end, ".code-workspace") == 0 && !is_allowed("*.code-workspace");
}

int is_control_file(const char *name) { return IS_ONE_OF(name, files) || is_project_of_an_editor(name); }

const char *control_name(int index) {
  const size_t count = sizeof directories / sizeof *directories;
  return (size_t)index < count ? directories[index] : control_file(index - (int)count);
}

const char *control_file(int index) {
  return (size_t)index < sizeof files / sizeof *files ? files[index] : NULL;
}
