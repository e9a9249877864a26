#define _GNU_SOURCE
#include "find-names.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "open-beneath.h"
#include "system-calls.h"

/* More than any real tree has: names of four million directories. */
#define MAX_NAME_BYTES (128u * 1024 * 1024)

/* The record of getdents64. */
struct entry {
  uint64_t inode;
  int64_t offset;
  unsigned short size;
  unsigned char type;
  char name[];
};

/* A directory that was found. Its path is made from its parents, so that a deep tree takes no more memory. */
struct directory {
  uint32_t parent, name; /* the name is an offset in `names` */
};

struct walk {
  int root;
  const struct wanted_names *wanted;
  uint8_t begins[256], ends[256]; /* whether a wanted name begins with this byte, or a `*` name ends with it */
  struct names_found *found;
  struct directory *directories;
  uint32_t count;
  size_t capacity;
  char *names;
  size_t names_length, names_room;
  uint32_t entries_left;
};

/* Makes space for `more` elements of `size` bytes. */
static void *grow(void *at, size_t used, size_t more, size_t *capacity, size_t size) {
  if (at != NULL && used + more <= *capacity) return at;
  const size_t wanted = (used + more) * 2 < 1024 ? 1024 : (used + more) * 2;
  void *grown = realloc(at, wanted * size);
  if (grown != NULL) *capacity = wanted;
  return grown;
}

static int append(struct names_found *found, const char *bytes, size_t length) {
  char *grown = grow(found->bytes, found->length, length, &found->capacity, 1);
  if (grown == NULL) return -1;
  found->bytes = grown;
  memcpy(grown + found->length, bytes, length);
  found->length += length;
  return 0;
}

/* --- names --- */

static int matches(const char *pattern, const char *name) {
  if (*pattern != '*') return strcmp(pattern, name) == 0;
  const size_t end = strlen(pattern + 1), length = strlen(name);
  return length >= end && strcmp(name + length - end, pattern + 1) == 0;
}

static int is_among(const char *names, const char *name) {
  while (*names != 0 && !matches(names, name)) names += strlen(names) + 1;
  return *names != 0;
}

static void note_bytes(struct walk *walk) {
  for (const char *name = walk->wanted->names; *name != 0; name += strlen(name) + 1)
    if (*name == '*') walk->ends[(uint8_t)name[strlen(name) - 1]] = 1;
    else walk->begins[(uint8_t)*name] = 1;
}

/* Most names are none of these, which one byte of them shows. */
static int is_wanted(const struct walk *walk, const char *name) {
  if (!walk->begins[(uint8_t)*name] && !walk->ends[(uint8_t)name[strlen(name) - 1]]) return 0;
  return is_among(walk->wanted->names, name);
}

static char letter_of(int directory, const struct entry *entry) {
  struct stat status;
  unsigned char type = entry->type;
  if (type == DT_UNKNOWN && call_fstatat(directory, entry->name, &status, AT_SYMLINK_NOFOLLOW) == 0)
    type = (unsigned char)IFTODT(status.st_mode);
  return type == DT_DIR ? 'd' : type == DT_LNK ? 'l' : type == DT_REG ? 'f' : 'o';
}

/* The names in a directory by which git recognises its own. */
struct git_marks {
  char head, objects, refs, commondir, config, hooks;
};

static void note_mark(struct git_marks *marks, const char *name, char letter) {
  if (strcmp(name, "HEAD") == 0) marks->head = letter;
  else if (strcmp(name, "objects") == 0) marks->objects = letter;
  else if (strcmp(name, "refs") == 0) marks->refs = letter;
  else if (strcmp(name, "commondir") == 0) marks->commondir = letter;
  else if (strcmp(name, "config") == 0) marks->config = letter;
  else if (strcmp(name, "hooks") == 0) marks->hooks = letter;
}

/* The same as `looksLikeGit` of src/disk/control-files/is-git-directory.ts. */
static int is_git(const struct git_marks *marks) {
  if (marks->head && ((marks->objects && marks->refs) || marks->commondir)) return 1;
  return marks->config == 'f' && (marks->hooks == 'd' || marks->commondir == 'f');
}

/* --- directories --- */

static int add_directory(struct walk *walk, uint32_t parent, const char *name) {
  const size_t length = strlen(name) + 1;
  if (walk->names_length + length > MAX_NAME_BYTES) return walk->entries_left = 0, 0;
  struct directory *directories = grow(walk->directories, walk->count, 1, &walk->capacity, sizeof *directories);
  if (directories == NULL) return -1;
  walk->directories = directories;
  char *names = grow(walk->names, walk->names_length, length, &walk->names_room, 1);
  if (names == NULL) return -1;
  walk->names = names;
  directories[walk->count++] = (struct directory){parent, (uint32_t)walk->names_length};
  memcpy(names + walk->names_length, name, length);
  walk->names_length += length;
  return 0;
}

/* Writes the path of a directory to the end of `buffer`. Returns its start, or NULL if it is too long to be opened. */
static char *path_of(const struct walk *walk, uint32_t at, char buffer[PATH_MAX]) {
  char *start = buffer + PATH_MAX - 1;
  *start = 0;
  for (; at != 0; at = walk->directories[at].parent) {
    const char *name = walk->names + walk->directories[at].name;
    const size_t length = strlen(name);
    if (*start != 0) *--start = '/';
    if ((size_t)(start - buffer) < length + 1) return NULL;
    start -= length;
    memcpy(start, name, length);
  }
  return start;
}

static int is_self_or_parent(const char *name) {
  return name[0] == '.' && (name[1] == 0 || (name[1] == '.' && name[2] == 0));
}

/* A directory while it is read. */
struct reading {
  struct walk *walk;
  uint32_t at;
  int handle;
  const char *path;
  struct git_marks marks;
  int has_record;
};

static int add_to_record(struct reading *reading, const char *name, char letter) {
  struct names_found *found = reading->walk->found;
  if (!reading->has_record && append(found, reading->path, strlen(reading->path) + 1) != 0) return -1;
  reading->has_record = 1;
  return append(found, &letter, 1) != 0 ? -1 : append(found, name, strlen(name) + 1);
}

static int take_entry(struct reading *reading, const struct entry *entry) {
  struct walk *walk = reading->walk;
  const char letter = letter_of(reading->handle, entry);
  note_mark(&reading->marks, entry->name, letter);
  if (is_wanted(walk, entry->name) && add_to_record(reading, entry->name, letter) != 0) return -1;
  if (letter != 'd' || is_among(walk->wanted->skipped, entry->name)) return 0;
  return add_directory(walk, reading->at, entry->name);
}

static int read_entries(struct reading *reading) {
  _Alignas(struct entry) char entries[32 * 1024];
  struct walk *walk = reading->walk;
  long got;
  while ((got = syscall(SYS_getdents64, reading->handle, entries, sizeof entries)) > 0)
    for (long at = 0; at < got;) {
      const struct entry *entry = (struct entry *)(entries + at);
      at += entry->size;
      if (is_self_or_parent(entry->name)) continue;
      if (walk->entries_left == 0) return 0;
      walk->entries_left--;
      if (take_entry(reading, entry) != 0) return -1;
    }
  return 0;
}

/* Git names files in some of its directories by hash or by branch, so any name may occur there. */
static void drop_bulk(struct walk *walk, uint32_t from) {
  uint32_t kept = from;
  for (uint32_t at = from; at < walk->count; at++)
    if (!is_among(walk->wanted->skipped_in_git, walk->names + walk->directories[at].name))
      walk->directories[kept++] = walk->directories[at];
  walk->count = kept;
}

static int is_dot_git(const char *path) {
  const size_t length = strlen(path);
  return length >= 4 && strcmp(path + length - 4, ".git") == 0 && (length == 4 || path[length - 5] == '/');
}

/* An empty `.git`, or one that cannot be read, has a record too. */
static int end_record(struct reading *reading, int in_git) {
  struct names_found *found = reading->walk->found;
  if (!reading->has_record && !in_git) return 0;
  if (!reading->has_record && append(found, reading->path, strlen(reading->path) + 1) != 0) return -1;
  return append(found, "", 1);
}

static int read_directory(struct walk *walk, uint32_t at) {
  char buffer[PATH_MAX];
  const char *path = path_of(walk, at, buffer);
  if (path == NULL) return 0;
  const uint32_t known = walk->count;
  const int in_git = is_dot_git(path);
  struct reading reading = {.walk = walk, .at = at, .path = path};
  reading.handle = open_beneath(walk->root, *path == 0 ? "." : path, O_RDONLY | O_DIRECTORY | O_NONBLOCK, 0);
  if (reading.handle >= 0 && read_entries(&reading) != 0) return close(reading.handle), -1;
  if (reading.handle >= 0) close(reading.handle);
  if (in_git || is_git(&reading.marks)) drop_bulk(walk, known);
  return end_record(&reading, in_git);
}

/* Level by level, so that what is nearest to the root is found first, and is found whatever is below. */
static int read_levels(struct walk *walk, uint32_t depth) {
  for (uint32_t at = 0, end = walk->count; at < end && depth > 0; depth--, end = walk->count)
    for (; at < end; at++) {
      if (walk->entries_left == 0) return 0;
      if (read_directory(walk, at) != 0) return -1;
    }
  return 0;
}

int find_names(int root, const struct wanted_names *wanted, struct walk_limits limits, struct names_found *found) {
  struct walk walk = {.root = root, .wanted = wanted, .found = found, .entries_left = limits.entries};
  note_bytes(&walk);
  const int result = add_directory(&walk, 0, "") != 0 ? -1 : read_levels(&walk, limits.depth);
  free(walk.directories);
  free(walk.names);
  return result;
}
