#define _GNU_SOURCE
#include "control-files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "git-settings.h"

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
  for (int i = 0; i < pin_count; i++)
    if (strcmp(pins[i].path, path) == 0) return 0;
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

/* Takes the way to the root off a whole name. -1 when it leads elsewhere. */
static int enter(char *rest) {
  char done[PATH_MAX] = "";
  for (int more; (more = step(done, rest)) > 0;)
    if (strcmp(done, top) == 0) return 0;
  return -1;
}

/* After a step out of the root, which may lead back into it by its name. */
static int come_back(char *rest) {
  char whole[PATH_MAX];
  const int parent = (int)(strrchr(top, '/') - top);
  if (snprintf(whole, sizeof whole, "%.*s/%s", parent, top, rest) >= (int)sizeof whole) return -1;
  strcpy(rest, whole);
  return enter(rest);
}

/* The rest of the way after a link, from where it starts; -1 when that is not in the workspace. */
static int follow(const char *whole, char *done, char *rest) {
  char target[PATH_MAX], after[PATH_MAX];
  ssize_t length = readlink(whole, target, sizeof target - 1);
  if (length < 0) return -1;
  target[length] = 0;
  strcpy(after, rest);
  if (snprintf(rest, PATH_MAX, "%s/%s", target, after) >= PATH_MAX) return -1;
  if (target[0] != '/') return 0;
  done[0] = 0;
  return enter(rest);
}

/* What is obeyed as soon as it is there, and whoever made it first would have made it for all. */
static int make_place(const char *whole, int is_directory) {
  int made = is_directory ? mkdir(whole, 0755) : open(whole, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (!is_directory && made >= 0) close(made);
  if (made >= 0 || errno == EEXIST) return 1;
  return errno == ENOSPC || errno == EDQUOT ? -1 : 0;
}

/* Holds what is at `path`, below the root, and every link on the way to it. Makes it if it is not there. */
static int add_chain(const char *path, int is_directory) {
  char done[PATH_MAX] = "", rest[PATH_MAX], whole[2 * PATH_MAX];
  struct stat status;
  if (snprintf(rest, sizeof rest, "%s", path) >= (int)sizeof rest) return 0;
  for (int hops = 0, more; (more = step(done, rest)) != 0;) {
    if (more < 0 && done[0] == 0 && come_back(rest) == 0) continue;
    if (more < 0) return 0;
    snprintf(whole, sizeof whole, "%s%s", top, done);
    const int is_last = rest[strspn(rest, "/")] == 0;
    const int made = lstat(whole, &status) == 0 ? 0 : errno != ENOENT ? -2 : make_place(whole, is_directory || !is_last);
    if (made < 0) return made == -1 ? -1 : 0;
    if (made == 1 || !S_ISLNK(status.st_mode)) continue;
    if (add_hop(done, whole, is_last) != 0) return -1;
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

static int is_dot_git(const char *path, size_t length) {
  return length >= 5 && memcmp(path + length - 5, "/.git", 5) == 0;
}

/* By its name, or by what is in it: also if all that can be taken away from it has been, because what is held stays. */
static int is_git_directory(int directory, const char *path, size_t length) {
  if (is_dot_git(path, length)) return 1;
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

/* What git obeys as soon as it is there must be there to be held. Empty hooks and settings change nothing, nor does a
   common directory that is this one. */
static int add_missing(int directory) {
  if (mkdirat(directory, "hooks", 0755) != 0 && errno != EEXIST && errno != EROFS) return -1;
  if (make_missing(directory, "config", "") != 0 || make_missing(directory, "config.worktree", "") != 0) return -1;
  return make_missing(directory, "commondir", ".\n");
}

/* What comes after the root in a name that begins at somebody's home, which may be any directory above it. */
static const char *below_home(const char *name) {
  const char *rest = strchr(name, '/');
  for (const char *tail = strchr(top, '/'); rest != NULL && tail != NULL; tail = strchr(tail + 1, '/')) {
    const size_t length = strlen(tail);
    if (strncmp(rest, tail, length) == 0 && rest[length] == '/') return rest + length;
  }
  return NULL;
}

/* Puts together a place in the workspace from where it starts and what a setting says. -1 if it is elsewhere. */
static int locate(char *place, const char *from, const char *value) {
  if (value[0] == 0) return -1;
  const char *rest = value[0] == '~' ? below_home(value) : value;
  const int is_whole = value[0] == '/' || value[0] == '~';
  if (rest == NULL) return -1;
  if (snprintf(place, PATH_MAX, "%s%s%s", is_whole ? "" : from, is_whole ? "" : "/", rest) >= PATH_MAX) return -1;
  return value[0] == '/' ? enter(place) : 0;
}

#define MAX_INCLUDES 10

/* A file of settings, below the root, and the tops of the working trees that they are for. */
struct reading {
  const char *file, *tree;
  char own_tree[PATH_MAX];
  int depth;
};

static int read_settings(struct reading *reading, setting_taker take) {
  char whole[2 * PATH_MAX];
  snprintf(whole, sizeof whole, "%s%s", top, reading->file);
  return git_settings_read(whole, take, reading);
}

static int take_tree(void *context, const char *key, const char *value) {
  struct reading *reading = context;
  char base[PATH_MAX];
  snprintf(base, sizeof base, "%.*s", (int)(strrchr(reading->file, '/') - reading->file), reading->file);
  if (strcmp(key, "core.worktree") != 0) return 0;
  if (locate(reading->own_tree, base, value) != 0) reading->own_tree[0] = 0;
  else if (reading->own_tree[0] == 0) strcpy(reading->own_tree, "/.");
  return 0;
}

static int take_include(const struct reading *from, const char *value, setting_taker take) {
  char base[PATH_MAX], place[PATH_MAX];
  snprintf(base, sizeof base, "%.*s", (int)(strrchr(from->file, '/') - from->file), from->file);
  if (from->depth == MAX_INCLUDES || locate(place, base, value) != 0 || strchr(place, '/') == NULL) return 0;
  struct reading included = *from;
  included.file = place;
  included.depth++;
  return add_chain(place, 0) != 0 ? -1 : read_settings(&included, take);
}

/* Hooks may lie where the settings say, and settings in files that they include: then those are control files too. */
static int take_setting(void *context, const char *key, const char *value) {
  const struct reading *reading = context;
  char place[PATH_MAX];
  if (strcmp(key, "include.path") == 0 || strcmp(key, "includeif.*.path") == 0) return take_include(reading, value, take_setting);
  if (strcmp(key, "core.hookspath") != 0) return 0;
  if (locate(place, reading->tree, value) == 0 && add_chain(place, 1) != 0) return -1;
  return reading->own_tree[0] != 0 && locate(place, reading->own_tree, value) == 0 ? add_chain(place, 1) : 0;
}

/* `git` is a directory of git's, for the working tree at `tree`. */
static int add_git_settings(const char *git, const char *tree) {
  static const char *const names[] = {"config", "config.worktree"};
  char file[PATH_MAX + sizeof "/config.worktree"];
  struct reading reading = {file, tree, "", 0};
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < 2; i++) {
      snprintf(file, sizeof file, "%s/%s", git, names[i]);
      if (read_settings(&reading, pass == 0 ? take_tree : take_setting) != 0) return -1;
    }
  return 0;
}

/* The first line of a small file, or -1. */
static int read_line(const char *file, char *line) {
  char whole[2 * PATH_MAX + sizeof "/commondir"];
  struct stat status;
  snprintf(whole, sizeof whole, "%s%s", top, file);
  int handle = open(whole, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (handle < 0) return -1;
  ssize_t length = fstat(handle, &status) == 0 && S_ISREG(status.st_mode) ? read(handle, line, PATH_MAX - 1) : -1;
  close(handle);
  if (length < 0) return -1;
  line[length] = 0;
  line[strcspn(line, "\r\n")] = 0;
  return 0;
}

/* A directory of git's may leave its settings and hooks to another one. */
static int add_repository(const char *git, const char *tree) {
  char file[PATH_MAX + sizeof "/commondir"], line[PATH_MAX], common[PATH_MAX];
  if (add_git_settings(git, tree) != 0) return -1;
  snprintf(file, sizeof file, "%s/commondir", git);
  if (read_line(file, line) != 0 || strcmp(line, ".") == 0 || locate(common, git, line) != 0) return 0;
  static const char *const names[] = {"config", "hooks"};
  for (size_t i = 0; i < 2; i++)
    if (snprintf(file, PATH_MAX, "%s/%s", common, names[i]) < PATH_MAX && add_chain(file, i == 1) != 0) return -1;
  return add_git_settings(common, tree);
}

/* A file in place of the directory says where that is. Settings that are elsewhere are then for this working tree. */
static int add_git_file(const char *path) {
  char line[PATH_MAX], tree[PATH_MAX], git[PATH_MAX];
  snprintf(tree, sizeof tree, "%.*s", (int)(strrchr(path, '/') - path), path);
  if (read_line(path, line) != 0 || strncmp(line, "gitdir: ", 8) != 0 || locate(git, tree, line + 8) != 0) return 0;
  return add_repository(git, tree);
}

/* `path` is a directory of git's, which usually lies at the top of its working tree. */
static int add_git_directory(const char *path, size_t length) {
  char git[PATH_MAX], tree[PATH_MAX];
  snprintf(git, sizeof git, "%.*s", (int)length, path);
  snprintf(tree, sizeof tree, "%.*s", (int)(is_dot_git(path, length) ? length - 5 : length), path);
  return add_repository(git, tree);
}

static unsigned char type_of(int directory, const struct dirent *entry) {
  if (entry->d_type != DT_UNKNOWN) return entry->d_type;
  struct stat status;
  if (fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
  return (unsigned char)IFTODT(status.st_mode);
}

static int search(int directory, char *path, size_t length, int depth);

static int is_our_own(int directory, const char *name) {
  struct stat status;
  return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_uid == geteuid();
}

static int descend(int directory, const char *name, char *path, size_t length, int depth) {
  int child = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (child >= 0 && faccessat(child, ".", X_OK, 0) == 0) return search(child, path, length, depth + 1);
  int error = errno;
  if (child >= 0) close(child);
  if (error == EMFILE || error == ENFILE) return errno = error, -1;
  /* A program could open again what is closed to us now, and then be first to look. Gone, swapped or somebody else's,
     it is nothing a pin could hold. */
  return error == EACCES && is_our_own(directory, name) ? add_pin(path) : 0;
}

/* Packages come with their authors' settings, which nobody obeys there, and must be free to come and go. */
static int is_fetched(const char *path) { return strstr(path, "/node_modules/") != NULL; }

static int add_attributes(int git, char *path, size_t length) {
  if (!has(git, "info/attributes", S_IFREG)) return 0;
  memcpy(path + length, "/attributes", sizeof "/attributes");
  int result = add_pin(path);
  path[length] = 0;
  return result;
}

static int judge(int directory, const struct dirent *entry, int in_git, char *path, size_t length, int depth) {
  const char *name = entry->d_name;
  const unsigned char type = type_of(directory, entry);
  /* Whoever makes a directory look like one of git's frees nothing in it. */
  const int is_control = (in_git && IS_ONE_OF(name, git_names)) || (IS_ONE_OF(name, control_names) && !is_fetched(path));
  const int is_git = strcmp(name, ".git") == 0 && type != DT_DIR;
  if (is_control || is_git) {
    if ((type == DT_LNK ? add_chain(path, in_git && strcmp(name, "hooks") == 0) : add_pin(path)) != 0) return -1;
    return is_git ? add_git_file(path) : 0;
  }
  if (type != DT_DIR) return 0;
  if (in_git && strcmp(name, "info") == 0 && add_attributes(directory, path, length) != 0) return -1;
  /* What git keeps by hash or as a name of a branch is no setting, and there is much of it. */
  static const char *const bulk[] = {"objects", "refs", "logs", "lfs", "info"};
  if (is_dot_git(path, length - strlen(name) - 1) && IS_ONE_OF(name, bulk)) return 0;
  return descend(directory, name, path, length, depth);
}

/* Where nothing can be made now a program could see to it that it can, unless the whole directory is held. */
static int prepare(int git, const char *path, size_t length) {
  if (add_missing(git) == 0) return 0;
  if (errno != EACCES || length == 0) return -1;
  return is_our_own(git, ".") ? add_pin(path) : 0;
}

/* Closes `directory`. */
static int search(int directory, char *path, size_t length, int depth) {
  DIR *entries = fdopendir(directory);
  if (entries == NULL) return close(directory), -1;
  const int in_git = is_git_directory(directory, path, length);
  if (in_git && (prepare(directory, path, length) != 0 || add_git_directory(path, length) != 0)) return closedir(entries), -1;
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
