#define _GNU_SOURCE
#include "control-files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_DEPTH 256
#define MAX_ENTRIES 4000000

/* In any directory. */
static const char *const control_names[] = {
    ".mcp.json", ".vscode", ".idea", ".zed", ".cursor", ".cursorrules", ".windsurf", ".claude", ".agents", ".codex", ".gemini",
    ".continue", ".aider.conf.yml", ".devcontainer", ".husky", ".envrc", ".bashrc", ".bash_profile", ".bash_login",
    ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".inputrc", ".gitconfig", ".gitmodules",
    ".ripgreprc", ".vimrc", ".exrc", ".nvimrc", ".emacs", ".dir-locals.el", ".gdbinit", ".lldbinit",
};

/* In a git directory, whose own name may be anything. */
static const char *const git_names[] = {"hooks", "config", "config.worktree", "commondir", "gitdir"};

struct pin pins[MAX_PINS];
int pin_count;
static const char *top; /* the root by its name */
static long entries_left = MAX_ENTRIES;

static int is_one_of(const char *name, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(name, names[i]) == 0) return 1;
  return 0;
}

#define IS_ONE_OF(name, names) is_one_of(name, names, sizeof names / sizeof *names)

static int add(const char *path, int is_link) {
  if (pin_count == MAX_PINS) return errno = E2BIG, -1;
  pins[pin_count] = (struct pin){strdup(path), is_link};
  return pins[pin_count++].path == NULL ? -1 : 0;
}

static int add_pin(const char *path) { return add(path, 0); }

/* --- links --- */

static int cannot_hold(const char *path) {
  fprintf(stderr, "croft-init: %s is a link to a directory and cannot be held in place; put the directory there itself\n", path + 1);
  return errno = EMLINK, -1;
}

/* A control file may be a link, and so may what it leads to: whoever can change one of them changes what is obeyed.
   So each is held, unless there is a directory behind it that programs need. */
static int add_hop(const char *path, const char *whole, int is_last) {
  struct stat status;
  const int is_directory = stat(whole, &status) == 0 && S_ISDIR(status.st_mode);
  const char *name = strrchr(path, '/') + 1;
  if (is_directory && (!is_last || strcmp(name, ".git") == 0)) return cannot_hold(path);
  return add(path, 1);
}

/* The rest of the way after a link, from where it starts; -1 when that is not in the workspace. */
static int follow(const char *whole, char *done, char *rest) {
  char target[PATH_MAX], after[PATH_MAX];
  const size_t root = strlen(top);
  ssize_t length = readlink(whole, target, sizeof target - 1);
  if (length < 0) return -1;
  target[length] = 0;
  const int is_ours = strncmp(target, top, root) == 0 && target[root] == '/';
  if (target[0] == '/' && !is_ours) return -1;
  if (is_ours) done[0] = 0;
  strcpy(after, rest);
  return snprintf(rest, PATH_MAX, "%s/%s", is_ours ? target + root : target, after) < PATH_MAX ? 0 : -1;
}

/* Takes the first name off `rest` and puts it on `done`. 0 at the end, -1 when it leaves the workspace. */
static int step(char *done, char *rest) {
  char name[NAME_MAX + 1];
  const char *from = rest + strspn(rest, "/");
  const size_t length = strcspn(from, "/"), so_far = strlen(done);
  if (length == 0) return 0;
  if (length > NAME_MAX || so_far + length + 2 > PATH_MAX) return -1;
  memcpy(name, from, length);
  name[length] = 0;
  memmove(rest, from + length, strlen(from + length) + 1);
  if (strcmp(name, ".") == 0) return 1;
  if (strcmp(name, "..") != 0) return sprintf(done + so_far, "/%s", name);
  char *parent = strrchr(done, '/');
  if (parent == NULL) return -1;
  *parent = 0;
  return 1;
}

/* Holds the file at `path`, below the root, and every link on the way to it. */
static int add_chain(const char *path) {
  char done[PATH_MAX] = "", rest[PATH_MAX], whole[2 * PATH_MAX];
  struct stat status;
  if (snprintf(rest, sizeof rest, "%s", path) >= (int)sizeof rest) return 0;
  for (int hops = 0, more; (more = step(done, rest)) != 0;) {
    snprintf(whole, sizeof whole, "%s%s", top, done);
    if (more < 0 || lstat(whole, &status) != 0) return 0;
    if (!S_ISLNK(status.st_mode)) continue;
    if (add_hop(done, whole, rest[strspn(rest, "/")] == 0) != 0) return -1;
    *strrchr(done, '/') = 0;
    if (++hops > 40 || follow(whole, done, rest) != 0) return 0;
  }
  return done[0] == 0 ? 0 : add_pin(done);
}

/* --- git --- */

static int has(int directory, const char *name, mode_t kind) {
  struct stat status;
  return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && (status.st_mode & S_IFMT) == kind;
}

/* Links count: git follows them. */
static int is_there(int directory, const char *name) {
  return faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* By its name, or by what is in it: also if all that can be taken away from it has been, because what is held stays. */
static int is_git_directory(int directory, const char *path, size_t length) {
  if (length >= 5 && memcmp(path + length - 5, "/.git", 5) == 0) return 1;
  if (is_there(directory, "HEAD") && (is_there(directory, "objects") || is_there(directory, "commondir"))) return 1;
  return has(directory, "config", S_IFREG) && (has(directory, "commondir", S_IFREG) || has(directory, "hooks", S_IFDIR));
}

static int make_missing(int directory, const char *name, const char *content) {
  int file = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (file < 0) return errno == EEXIST || errno == EROFS ? 0 : -1;
  const ssize_t size = (ssize_t)strlen(content);
  int result = write(file, content, (size_t)size) == size ? 0 : -1;
  close(file);
  return result;
}

/* What git obeys as soon as it is there must be there to be held. Empty hooks and a common directory that is this one
   change nothing. */
static int add_missing(int directory) {
  if (mkdirat(directory, "hooks", 0755) != 0 && errno != EEXIST && errno != EROFS) return -1;
  return make_missing(directory, "commondir", ".\n");
}

/* One `name = value`, which may follow the name of its section in the same line. NULL for anything else. */
static char *parse_setting(char *line, char **name) {
  char *at = line + strspn(line, " \t");
  char *section_end = *at == '[' ? strchr(at, ']') : NULL;
  if (section_end != NULL) at = section_end + 1 + strspn(section_end + 1, " \t");
  char *value = strchr(at, '=');
  if (value == NULL || *at == '#' || *at == ';') return NULL;
  *name = at;
  value += 1 + strspn(value + 1, " \t");
  const int is_quoted = *value == '"';
  value += is_quoted;
  value[strcspn(value, is_quoted ? "\"\r\n" : "#;\r\n")] = 0;
  for (size_t length = strlen(value); length > 0 && strchr(" \t", value[length - 1]) != NULL; length--) value[length - 1] = 0;
  return value;
}

static int is_named(const char *setting, const char *name) {
  const size_t length = strlen(name);
  return strncasecmp(setting, name, length) == 0 && strchr(" \t=", setting[length]) != NULL;
}

/* Puts together a place in the workspace from where it starts and what a setting says. -1 if it is elsewhere. */
static int locate(char *place, size_t size, const char *from, const char *value) {
  const size_t root = strlen(top);
  const int is_ours = strncmp(value, top, root) == 0 && value[root] == '/';
  if (value[0] == 0 || value[0] == '~' || (value[0] == '/' && !is_ours)) return -1;
  int length = is_ours ? snprintf(place, size, "%s", value + root) : snprintf(place, size, "%s/%s", from, value);
  return length < (int)size ? 0 : -1;
}

#define MAX_INCLUDES 8
#define MAX_LINES 100000

/* Hooks may lie where the settings say, and settings in files that they include: then those are control files too.
   `file` and `tree`, the top of the working tree, are below the root. */
static int add_settings(int git, const char *file, const char *tree, int depth) {
  char line[PATH_MAX], whole[2 * PATH_MAX], place[PATH_MAX], base[PATH_MAX], own_tree[PATH_MAX], *name;
  snprintf(whole, sizeof whole, "%s%s", top, file);
  snprintf(own_tree, sizeof own_tree, "%s", tree);
  snprintf(base, sizeof base, "%.*s", (int)(strrchr(file, '/') - file), file);
  int handle = open(whole, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  FILE *settings = handle < 0 ? NULL : fdopen(handle, "r");
  if (settings == NULL) return 0;
  int result = 0;
  for (int lines = 0; result == 0 && lines < MAX_LINES && fgets(line, sizeof line, settings) != NULL; lines++) {
    const char *value = parse_setting(line, &name);
    if (value == NULL) continue;
    if (is_named(name, "worktreeconfig")) result = make_missing(git, "config.worktree", "");
    else if (is_named(name, "worktree") && locate(place, sizeof place, base, value) == 0) strcpy(own_tree, place);
    else if (is_named(name, "hookspath") && locate(place, sizeof place, own_tree, value) == 0) result = add_chain(place);
    else if (is_named(name, "path") && depth < MAX_INCLUDES && locate(place, sizeof place, base, value) == 0)
      result = add_chain(place) != 0 ? -1 : add_settings(git, place, own_tree, depth + 1);
  }
  fclose(settings);
  return result;
}

/* `path` is the git directory, which usually lies at the top of its working tree. */
static int add_git_settings(int directory, const char *path, size_t length) {
  char tree[PATH_MAX], file[PATH_MAX + sizeof "/config.worktree"];
  const int is_usual = length >= 5 && memcmp(path + length - 5, "/.git", 5) == 0;
  snprintf(tree, sizeof tree, "%.*s", (int)(is_usual ? length - 5 : length), path);
  snprintf(file, sizeof file, "%.*s/config", (int)length, path);
  if (add_settings(directory, file, tree, 0) != 0) return -1;
  strcat(file, ".worktree");
  return add_settings(directory, file, tree, 0);
}

static unsigned char type_of(int directory, const struct dirent *entry) {
  if (entry->d_type != DT_UNKNOWN) return entry->d_type;
  struct stat status;
  if (fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
  return (unsigned char)IFTODT(status.st_mode);
}

static int search(int directory, char *path, size_t length, int depth);

static int descend(int directory, const char *name, char *path, size_t length, int depth) {
  int child = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  /* Gone, swapped or not ours to read: then it is nothing a pin could hold either. */
  if (child < 0) return errno == EMFILE || errno == ENFILE ? -1 : 0;
  return search(child, path, length, depth + 1);
}

/* Packages come with their authors' settings, which nobody obeys there, and must be free to come and go. */
static int is_fetched(const char *path) { return strstr(path, "/node_modules/") != NULL; }

static int judge(int directory, const struct dirent *entry, int in_git, char *path, size_t length, int depth) {
  const char *name = entry->d_name;
  const unsigned char type = type_of(directory, entry);
  const int in_info = in_git && strcmp(name, "info") == 0 && type == DT_DIR;
  const int is_control = in_git ? IS_ONE_OF(name, git_names) : IS_ONE_OF(name, control_names) && !is_fetched(path);
  const int is_git = !in_git && strcmp(name, ".git") == 0 && type != DT_DIR;
  if (type == DT_LNK) return is_control || is_git ? add_chain(path) : 0;
  if (is_control || is_git) return add_pin(path);
  if (in_info) {
    int info = openat(directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int found = info >= 0 && has(info, "attributes", S_IFREG);
    if (info >= 0) close(info);
    if (found) memcpy(path + length, "/attributes", sizeof "/attributes");
    return found ? add_pin(path) : 0;
  }
  if (type != DT_DIR) return 0;
  /* What git keeps by hash or as a name of a branch is no setting, and there is much of it. */
  static const char *const bulk[] = {"objects", "refs", "logs", "lfs", "info"};
  if (in_git && IS_ONE_OF(name, bulk)) return 0;
  return descend(directory, name, path, length, depth);
}

/* Closes `directory`. */
static int search(int directory, char *path, size_t length, int depth) {
  DIR *entries = fdopendir(directory);
  if (entries == NULL) return close(directory), -1;
  const int in_git = is_git_directory(directory, path, length);
  if (in_git && (add_missing(directory) != 0 || add_git_settings(directory, path, length) != 0)) return closedir(entries), -1;
  int result = 0;
  for (struct dirent *entry; result == 0 && (entry = readdir(entries)) != NULL;) {
    const char *name = entry->d_name;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
    size_t size = strlen(name);
    if (depth > MAX_DEPTH || length + size + 32 > PATH_MAX) continue;
    if (--entries_left < 0) result = (errno = E2BIG, -1);
    path[length] = '/';
    memcpy(path + length + 1, name, size + 1);
    if (result == 0) result = judge(directory, entry, in_git, path, length + 1 + size, depth);
  }
  closedir(entries);
  return result;
}

static int by_path(const void *a, const void *b) {
  return strcmp(((const struct pin *)a)->path, ((const struct pin *)b)->path);
}

int control_files_find(const char *root) {
  static char path[PATH_MAX];
  top = root;
  int directory = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0 || search(directory, path, 0, 0) != 0) return -1;
  qsort(pins, (size_t)pin_count, sizeof *pins, by_path);
  return 0;
}
