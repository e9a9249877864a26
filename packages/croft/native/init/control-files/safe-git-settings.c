#define _GNU_SOURCE
#include <fnmatch.h>
#include <string.h>

#include "init/control-files/git-config-changes.h"

/* Settings that make git execute nothing, read no other settings file and write nowhere else. Settings that are not
   listed are not safe. `*` stands for any subsection. */
static const char *const harmless[] = {
    "core.abbrev", "core.autocrlf", "core.bare", "core.bigfilethreshold", "core.checkstat", "core.commentchar",
    "core.commitgraph", "core.compression", "core.deltabasecachelimit", "core.eol", "core.filemode", "core.hidedotfiles",
    "core.ignorecase", "core.ignorestat", "core.logallrefupdates", "core.loosecompression", "core.multipackindex",
    "core.packedgitlimit", "core.packedgitwindowsize", "core.precomposeunicode", "core.preloadindex", "core.protecthfs",
    "core.protectntfs", "core.quotepath", "core.repositoryformatversion", "core.safecrlf", "core.sharedrepository",
    "core.sparsecheckout", "core.sparsecheckoutcone", "core.splitindex", "core.symlinks", "core.trustctime",
    "core.untrackedcache", "core.warnambiguousrefs", "core.whitespace",
    "extensions.noop", "extensions.objectformat", "extensions.partialclone", "extensions.preciousobjects",
    "extensions.refstorage", "extensions.relativeworktrees",
    "user.name", "user.email", "user.signingkey", "user.useconfigonly", "author.name", "author.email", "committer.name",
    "committer.email",
    "remote.*.fetch", "remote.*.push", "remote.*.mirror", "remote.*.prune", "remote.*.prunetags", "remote.*.tagopt",
    "remote.*.skipdefaultupdate", "remote.*.skipfetchall", "remote.*.promisor", "remote.*.partialclonefilter",
    "remote.*.followremotehead", "remote.*.gh-resolved", "remote.pushdefault",
    "branch.*.merge", "branch.*.rebase", "branch.*.description", "branch.*.vscode-merge-base",
    "branch.*.github-pr-owner-number", "branch.*.gh-merge-base", "branch.autosetupmerge", "branch.autosetuprebase",
    "branch.sort",
    "submodule.*.active", "submodule.*.branch", "submodule.*.ignore", "submodule.*.fetchrecursesubmodules",
    "submodule.*.shallow", "submodule.active", "submodule.alternateerrorstrategy", "submodule.alternatelocation",
    "submodule.fetchjobs", "submodule.recurse",
    "init.defaultbranch", "pull.ff", "pull.rebase", "pull.twohead", "push.autosetupremote", "push.default",
    "push.followtags", "push.recursesubmodules", "fetch.all", "fetch.prune", "fetch.prunetags", "fetch.parallel",
    "fetch.recursesubmodules", "fetch.writecommitgraph", "merge.conflictstyle", "merge.directoryrenames", "merge.ff",
    "merge.log", "merge.renamelimit", "merge.renames", "merge.stat", "merge.verbosity", "rebase.abbreviatecommands",
    "rebase.autosquash", "rebase.autostash", "rebase.missingcommitscheck", "rebase.rebasemerges", "rebase.stat",
    "rebase.updaterefs", "rerere.autoupdate", "rerere.enabled", "stash.showincludeuntracked", "stash.showpatch",
    "stash.showstat", "status.branch", "status.showstash", "status.showuntrackedfiles", "status.submodulesummary",
    "commit.cleanup", "commit.gpgsign", "commit.status", "commit.verbose", "tag.gpgsign", "tag.sort", "log.abbrevcommit",
    "log.date", "log.decorate", "log.follow", "log.showroot", "diff.algorithm", "diff.colormoved", "diff.colormovedws",
    "diff.context", "diff.ignoresubmodules", "diff.indentheuristic", "diff.interhunkcontext", "diff.mnemonicprefix",
    "diff.noprefix", "diff.renamelimit", "diff.renames", "diff.statgraphwidth", "diff.submodule",
    "diff.suppressblankempty", "diff.wserrorhighlight", "apply.ignorewhitespace", "apply.whitespace", "am.keepcr",
    "am.threeway", "advice.*", "color.*", "column.*", "i18n.commitencoding", "i18n.logoutputencoding", "index.sparse",
    "index.threads", "index.version", "feature.experimental", "feature.manyfiles", "gc.auto", "gc.autodetach",
    "gc.autopacklimit", "gc.pruneexpire", "gc.reflogexpire", "gc.reflogexpireunreachable", "gc.rerereresolved",
    "gc.rerereunresolved", "gc.worktreepruneexpire", "lfs.repositoryformatversion", "pack.threads", "pack.windowmemory",
    "receive.advertisepushoptions", "receive.denycurrentbranch", "receive.denydeletes", "receive.denynonfastforwards",
    "receive.shallowupdate", "worktree.guessremote", "worktree.userelativepaths",
};

/* Settings whose value is an address. `name::` would start git's remote helper of that name, and a leading `-` would
   be an option. */
static const char *const addresses[] = {"remote.*.url", "remote.*.pushurl", "submodule.*.url", "branch.*.remote",
                                        "branch.*.pushremote"};

/* A subsection may hold any byte, including dots and slashes, so `*` matches everything between the first and the
   last dot. */
static int matches(const char *key, const char *const *list, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (fnmatch(list[i], key, FNM_NOESCAPE) == 0) return 1;
  return 0;
}

#define COUNT(list) (sizeof list / sizeof *list)

static int is_plain_address(const char *value) { return value[0] != '-' && strstr(value, "::") == NULL; }

static int is_known_update(const char *value) {
  static const char *const ways[] = {"checkout", "rebase", "merge", "none"};
  for (size_t i = 0; i < COUNT(ways); i++)
    if (strcmp(value, ways[i]) == 0) return 1;
  return 0;
}

/* A submodule names its working tree relative to its git directory: `../../../name`. Whether that stays in the
   workspace. */
static int leads_to_a_submodule(const char *value, int depth) {
  const char *rest = value;
  for (; strncmp(rest, "../", 3) == 0; rest += 3) depth--;
  return rest != value && depth >= 0 && rest[0] != 0 && rest[0] != '/' && strstr(rest, "..") == NULL;
}

int is_safe_setting(const char *key, const char *value, int depth) {
  /* A tool that reads settings line by line would read more than one. */
  if (strpbrk(value, "\n\r") != NULL || strpbrk(key, "\n\r") != NULL) return 0;
  if (matches(key, harmless, COUNT(harmless))) return 1;
  if (matches(key, addresses, COUNT(addresses))) return is_plain_address(value);
  if (fnmatch("submodule.*.update", key, FNM_NOESCAPE) == 0) return is_known_update(value);
  return strcmp(key, "core.worktree") == 0 && leads_to_a_submodule(value, depth);
}
