/** Paths of a repository's git directory and working tree, from the top of the workspace. */
export interface Target {
  readonly git: string;
  readonly work: string;
}

/** Kinds of repositories that a user may have below the top, and how to make each. */
export const layouts: Readonly<Record<string, Target & { readonly make: string }>> = {
  'nested repository with a gitlink': {
    ...{ git: 'lib/.git', work: 'lib' },
    make: 'git init -q lib; git -C lib commit -q --allow-empty -m x; git add lib 2> /dev/null; git commit -qm lib',
  },
  'gitlink without a repository': {
    ...{ git: 'hollow/.git', work: 'hollow' },
    make: 'git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),hollow; git commit -qm hollow; mkdir hollow',
  },
  submodule: {
    ...{ git: '.git/modules/sub', work: 'sub' },
    make: 'git -c protocol.file.allow=always submodule --quiet add "$ORIGIN" sub; git commit -qm sub',
  },
  worktree: { git: '.git/worktrees/tree', work: 'tree', make: 'git worktree add -q -b tree tree' },
  'bare repository': { git: 'store.git', work: 'store.git', make: 'git init -q --bare store.git' },
  'bare repository of any name': { git: 'data/x', work: 'data/x', make: 'git init -q --bare data/x' },
  'separate git directory': { git: 'meta', work: 'apart', make: 'git init -q --separate-git-dir meta apart' },
  'file in place of .git': {
    ...{ git: 'hidden/real', work: 'hidden' },
    make: 'git init -q hidden; mv hidden/.git hidden/real; echo "gitdir: real" > hidden/.git',
  },
  'link in place of .git': {
    ...{ git: 'linked/real', work: 'linked' },
    make: 'git init -q linked; mv linked/.git linked/real; ln -s real linked/.git',
  },
  'repository of a package': {
    ...{ git: 'node_modules/package/.git', work: 'node_modules/package' },
    make: 'git init -q node_modules/package',
  },
};

/** Repositories that always exist, or that an attack makes. */
export const commonTargets: readonly Target[] = [
  { git: '.git', work: '.' },
  { git: 'fresh/.git', work: 'fresh' },
  { git: 'deep/a/b/.git', work: 'deep/a/b' },
  { git: 'odd', work: 'odd' },
];

/** `key` and `value` of a setting; `file` holds it in git's format. */
export interface Plant {
  readonly key: string;
  readonly value: string;
  readonly file: string;
}

const exchangeCall = process.arch === 'arm64' ? 276 : 316;
const exchange = (from: string, to: string) =>
  `perl -e 'syscall(${exchangeCall}, -100, $ARGV[0], -100, $ARGV[1], 2)' ${from} ${to}`;

/** Builds a git directory by hand. `objects` and `refs` need only exist and be executable. */
const assemble = (at: string, file: string) =>
  `mkdir -p ${at} evil/refs; cp ${file} ${at}/config; : > ${at}/objects; chmod +x ${at}/objects; ln -s "$PWD/evil/refs" ${at}/refs`;
const headText = 'ref: refs/heads/main';
/** Turns a directory with settings into a git directory, and gives watchers time to see it. */
const complete = (at: string) => `mkdir ${at}/objects ${at}/refs; echo ${headText} > ${at}/HEAD; git -C ${at} status`;

/** The package caches are a directory of the user's, whose path every program can read. */
const leadToCaches = (work: string, name: string) =>
  `caches=$(awk -v at="$HOME/.cache" '$5 == at { print $4 }' /proc/self/mountinfo); mkdir -p ${work}; mv ${work}/.git ${work}/.away-$$; echo "gitdir: $caches/${name}" > ${work}/.git`;

/** git only asks whether the names exist and are executable. */
const bindSockets = `perl -MSocket -e 'for (qw(objects refs)) { socket(my $s, AF_UNIX, SOCK_STREAM, 0); bind($s, pack_sockaddr_un($_)) }'`;

/** Ways to put a setting or a hook where the user's git obeys it. */
export const attacks: Readonly<Record<string, (target: Target, plant: Plant) => string>> = {
  'git config': ({ work }, { key, value }) => `git -C ${work} config '${key}' '${value}'`,
  'git config of a directory': ({ git }, { key, value }) => `git --git-dir=${git} config --add '${key}' '${value}'`,
  'git config of a file': ({ git }, { key, value }) => `git config -f ${git}/config '${key}' '${value}'`,
  'git config for one worktree': ({ work }, { key, value }) =>
    `git -C ${work} config extensions.worktreeConfig true; git -C ${work} config --worktree '${key}' '${value}'`,
  append: ({ git }, { file }) => `cat ${file} >> ${git}/config`,
  overwrite: ({ git }, { file }) =>
    `cp ${file} ${git}/config; truncate -s 0 ${git}/config; cat ${file} >> ${git}/config`,
  'rename over': ({ git }, { file }) => `cp ${file} ${git}/next; mv -f ${git}/next ${git}/config`,
  'rename from above': ({ git }, { file }) =>
    `cp ${file} next; mv -f next ${git}/config; mv -f next ${git}/config.worktree`,
  'lock file': ({ git }, { file }) =>
    `cp ${file} ${git}/config.lock && mv -f ${git}/config.lock ${git}/config; rm -f ${git}/config.lock`,
  'hard link to it': ({ git }, { file }) => `ln ${git}/config hard-$$ && cat ${file} >> hard-$$`,
  'hard link in its place': ({ git }, { file }) => `rm -f ${git}/config; ln ${file} ${git}/config`,
  'link in its place': ({ git }, { file }) => `rm -f ${git}/config; ln -s "$PWD/${file}" ${git}/config`,
  'exchange of files': ({ git }, { file }) => `cp ${file} swap-$$; ${exchange('swap-$$', `${git}/config`)}`,
  'exchange of directories': ({ git }, { file }) =>
    `cp -a ${git} twin-$$; rm -f twin-$$/config; cat ${file} > twin-$$/config; ${exchange('twin-$$', git)}`,
  'moved away and copied back': ({ git }, { file }) =>
    `mv ${git} ${git}-old; cp -a ${git}-old ${git} && { rm -f ${git}/config; cp ${file} ${git}/config; }`,
  'moved away, changed and moved back': ({ git }, { file }) =>
    `mv ${git} changed-$$; cat ${file} >> changed-$$/config; mv changed-$$ ${git}`,
  'working tree moved and changed': ({ work, git }, { file }) =>
    work === '.'
      ? `cat ${file} >> ${git}/config`
      : `mv ${work} moved-$$; cat ${file} >> moved-$$/.git/config; mv moved-$$ ${work}`,
  hooks: ({ git }) => `mkdir -p ${git}/hooks; cp evil/hooks/* ${git}/hooks/`,
  'link in place of hooks': ({ git }) =>
    `rm -rf ${git}/hooks; mv ${git}/hooks gone-$$; ln -s "$PWD/evil/hooks" ${git}/hooks`,
  'hooks moved in': ({ git }) => `cp -a evil/hooks hooks-$$; mv ${git}/hooks gone-$$; mv -T hooks-$$ ${git}/hooks`,
  'common directory of another': ({ git }, { file }) =>
    `${assemble('common-$$', file)}; echo "$PWD/common-$$" > ${git}/commondir; mv -f ${git}/commondir ${git}/x; echo "$PWD/common-$$" > ${git}/commondir`,
  'common directory without a HEAD': ({ work }, { file }) =>
    `${assemble('shared-$$', file)}; mkdir -p own-$$ ${work}/at; echo "$PWD/shared-$$" > own-$$/commondir; echo ${headText} > own-$$/HEAD; echo "gitdir: $PWD/own-$$" > ${work}/at/.git`,
  'file in place of the git directory': ({ work }, { file }) =>
    `${assemble('real-$$', file)}; echo ${headText} > real-$$/HEAD; mv ${work}/.git ${work}/.gone-$$; echo "gitdir: $PWD/real-$$" > ${work}/.git`,
  'link in place of the git directory': ({ work }, { file }) =>
    `${assemble('real-$$', file)}; ln -s refs/heads/main real-$$/HEAD; mv ${work}/.git ${work}/.gone-$$; ln -s "$PWD/real-$$" ${work}/.git`,
  'made by hand': ({ git }, { file }) => `${assemble(git, file)}; echo ${headText} > ${git}/HEAD`,
  'made by hand, HEAD moved in': ({ git }, { file }) =>
    `${assemble(git, file)}; echo ${headText} > head-$$; mv head-$$ ${git}/HEAD`,
  'made of sockets': (_, { file }) =>
    `mkdir bound-$$; cp ${file} bound-$$/config; echo ${headText} > bound-$$/HEAD; cd bound-$$; ${bindSockets}`,
  'made elsewhere and moved in': ({ git, work }, { file }) =>
    `${assemble('parts-$$', file)}; echo ${headText} > parts-$$/HEAD; mkdir -p ${work}; mv -T parts-$$ ${git} || mv -T parts-$$ ${git}-$$`,
  'made outside and copied in': ({ git, work }, { file }) =>
    `git init -q /tmp/out-$$; cat ${file} >> /tmp/out-$$/.git/config; mkdir -p ${work}; cp -aT /tmp/out-$$/.git ${git}`,
  'unpacked from an archive': ({ work }, { file }) =>
    `git init -q /tmp/tar-$$; cat ${file} >> /tmp/tar-$$/.git/config; mkdir -p ${work}; tar c -C /tmp/tar-$$ .git | tar x -C ${work}`,
  'made in the package caches': ({ work }, { file }) =>
    `${assemble('~/.cache/hand-$$', file)}; echo ${headText} > ~/.cache/hand-$$/HEAD; ${leadToCaches(work, 'hand-$$')}`,
  'init in the package caches': ({ work }, { file }) =>
    `git init -q --bare ~/.cache/bare-$$; git -C ~/.cache/bare-$$ config core.bare false; cat ${file} >> ~/.cache/bare-$$/config; cp evil/hooks/* ~/.cache/bare-$$/hooks/; ${leadToCaches(work, 'bare-$$')}`,
  'held open before it is a git directory': (_, { file }) =>
    `mkdir held-$$; : > held-$$/config; exec 9>> held-$$/config; ${complete('held-$$')}; cat ${file} >&9`,
  'hard link before it is a git directory': (_, { file }) =>
    `mkdir early-$$; : > early-$$/config; ln early-$$/config name-$$; ${complete('early-$$')}; cat ${file} >> name-$$`,
  'link to settings that come later': (_, { file }) =>
    `mkdir late-$$; ln -s "$PWD/later-$$" late-$$/config; ${complete('late-$$')}; cat ${file} > later-$$`,
  'link to hooks that come later': () =>
    `mkdir -p late-$$/.git; ln -s "$PWD/later-$$" late-$$/.git/hooks; ${complete('late-$$/.git')}; cp -r evil/hooks later-$$`,
  'from within': ({ git }, { file }) =>
    `top=$PWD; cd ${git} && { cat "$top/${file}" >> config; cp -r "$top/evil/hooks" .; }`,
  'from within, moved meanwhile': ({ git }, { file }) =>
    `top=$PWD; cd ${git} && { mv "$top/${git}" "$top/away-$$"; cat "$top/${file}" >> config; mv "$top/away-$$" "$top/${git}"; }`,
  init: ({ work }, { key, value }) =>
    `git init -q ${work}; git -C ${work} config '${key}' '${value}'; git add -f ${work}`,
  'init with a template': ({ work }) =>
    `git init -q --template=evil/template ${work}; git init -q --template=evil/template new-$$; git add -f new-$$`,
  'init of a bare one': (_, { key, value }) => `git init -q --bare any-$$; git -C any-$$ config '${key}' '${value}'`,
  'init with a separate directory': ({ work }, { key, value }) =>
    `git init -q --separate-git-dir sep-$$ ${work}; git init -q --separate-git-dir sep2-$$ w-$$; git -C w-$$ config '${key}' '${value}'`,
  clone: (_, { key, value }) =>
    `git clone -q -c '${key}=${value}' --template=evil/template . clone-$$; git add -f clone-$$`,
  'clone of a bare one': (_, { key, value }) => `git clone -q --bare -c '${key}=${value}' . bare-$$.git`,
  'worktree with settings': (_, { file }) =>
    `git worktree add -q wt-$$; cp ${file} .git/worktrees/wt-$$/config.worktree; printf '[extensions]\\nworktreeConfig=true\\n' >> .git/config`,
  'submodule with settings': (_, { file }) =>
    `git -c protocol.file.allow=always submodule add ./ sub-$$; cat ${file} >> .git/modules/sub-$$/config; cat ${file} >> sub-$$/.git/config`,
  'gitlink to a new repository': (_, { file }) =>
    `git init -q link-$$; git -C link-$$ commit -q --allow-empty -m x; cat ${file} >> link-$$/.git/config; git add -f link-$$`,
};

/** Actions of the user meanwhile in a target repository. */
export const hostDeeds: Readonly<Record<string, (target: Target) => string>> = {
  'git config': ({ work }) => `git -C ${work} config user.name "Ada $RANDOM"`,
  'git push -u': () => 'git push -q -u origin "HEAD:refs/heads/b$RANDOM"',
  'git branch -u': ({ work }) => `git -C ${work} config branch.main.merge refs/heads/main`,
  'safe save of settings': ({ git }) =>
    `cp ${git}/config /tmp/save-$$ && cp /tmp/save-$$ ${git}/.save && mv ${git}/.save ${git}/config; rm -f /tmp/save-$$`,
  'safe save in the editor': () =>
    'mkdir -p .vscode; echo "{}" > .vscode/.save; mv .vscode/.save .vscode/settings.json',
  'editor settings anew': () =>
    'mkdir .vscode-new; echo "{}" > .vscode-new/settings.json; rm -rf .vscode; mv .vscode-new .vscode',
  rename: ({ work }) => `[ ${work} = . ] || { mv ${work} renamed-$$ && mv renamed-$$ ${work}; }`,
  'git directory renamed': ({ git }) => `mv ${git} ${git}-person && mv ${git}-person ${git}`,
  clone: () => 'git clone -q "$ORIGIN" person-clone-$$',
  worktree: () => 'git worktree add -q person-tree-$$',
  'init again': ({ work }) => `mkdir -p ${work}; git init -q ${work}`,
  gc: ({ work }) => `git -C ${work} gc -q`,
};

/** Tries forever to change the given git directories, immediately after each change by others. */
export const loop = `perl -e '
  use strict; my ($file, @git) = @ARGV; my $tries = 0;
  sub slurp { open(my $f, "<", $_[0]) or return ""; local $/; my $text = <$f>; return $text // "" }
  sub put { my ($how, $to, $text) = @_; open(my $f, $how, $to) or return 0; print $f $text; return close $f }
  my $evil = slurp($file); my $hook = slurp("evil/hooks/pre-commit");
  for (;; $tries++) {
    for my $git (@git) {
      my $config = slurp("$git/config");
      if ($config !~ /CROFT_CANARY/) {
        put(">>", "$git/config", $evil);
        put(">", "next$$", $config . $evil) and rename("next$$", "$git/config");
        put(">", "next$$", $config . $evil) and syscall(${exchangeCall}, -100, "next$$", -100, "$git/config", 2);
      }
      # What git of the person is about to rename over its settings.
      if (-e "$git/config.lock") {
        link("$git/config.lock", "$git/alias$$");
        rename("$git/config.lock", "$git/taken$$") and put(">", "$git/config.lock", $config . $evil);
      }
      put(">>", "$git/alias$$", $evil) if -e "$git/alias$$";
      mkdir "$git/hooks";
      # A program that is open for writing cannot be run.
      next if slurp("$git/hooks/pre-commit") eq $hook;
      put(">", "$git/hooks/pre-commit", $hook) and chmod 0755, "$git/hooks/pre-commit";
    }
    put(">", "tries-next", $tries) and rename("tries-next", "tries");
    select(undef, undef, undef, 0.0003);
  }'`;
