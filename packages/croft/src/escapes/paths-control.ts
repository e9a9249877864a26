import { lstatSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Escape, Ground } from './escape.ts';
import { watchOver } from './outside.ts';
import { attemptCalls } from './paths-calls.ts';
import { type Problem, verdict } from './verdict.ts';

const git = {
  '.git/HEAD': 'ref: refs/heads/main\n',
  '.git/config': '[core]\n\tbare = false\n',
  '.git/hooks/pre-commit': 'as it was\n',
  '.git/objects/x': '',
};
const nested = Object.fromEntries(Object.entries(git).map(([path, text]) => [`deep/er/${path}`, text]));

/** Some of the names that a control file has. */
const obeyed = ['.bashrc', '.envrc', '.gitconfig', '.inputrc', '.mcp.json', '.profile', '.vimrc', '.zshenv', '.zshrc'];
const heldFiles = Object.entries({ ...git, ...nested }).filter(([path]) => /config$|hooks/.test(path));

/** Names that somebody obeys, reached a roundabout way. */
export const pathsControl: readonly Escape[] = [
  {
    id: 'A13b',
    title: 'more control files than there is room to hold',
    guards: ['control-files'],
    async attempt(ground) {
      const crowd = await ground.open({});
      const each = (script: string) => `for at in d*; do for name in ${obeyed.join(' ')}; do ${script}; done; done`;
      await crowd.run(`mkdir d{1..500}; ${each('echo as it was > $at/$name')}`);
      await crowd.reopen();
      // To be refused, or to have all of them held: either will do.
      await crowd.call('bash', { command: each('echo evil > $at/$name') });
      const names = Array.from({ length: 500 }, (_, index) => obeyed.map((name) => `d${index + 1}/${name}`)).flat();
      return verdict(names.map((name) => changed(crowd, name, 'as it was\n')));
    },
  },
  {
    id: 'A16',
    title: 'a control file reached by renaming what is above it',
    guards: ['control-files'],
    async attempt(ground) {
      const repository = await ground.open({ tree: { ...git, ...nested } });
      const names = ['.git/hooks', '.git', 'deep/er/.git/hooks', 'deep/er/.git', 'deep/er', 'deep'];
      const moves = names.map((name, index) => `mv ${name} t${index} && mkdir -p ${name} && cp -r t${index}/. ${name}`);
      const swaps = ['.git', 'deep/er/.git'].map((name) => `echo evil > ${name}/hooks/pre-commit; rm -rf ${name}`);
      await repository.run([...moves, ...swaps, 'for at in t*; do echo evil > $at/pre-commit; done'].join('\n'));
      return verdict(heldFiles.map(([path, text]) => changed(repository, path, text)));
    },
  },
  {
    id: 'A16b',
    title: 'the hooks of a repository that an earlier sandbox made unlike one',
    guards: ['control-files'],
    async attempt(ground) {
      const repository = await ground.open({ tree: { ...git, ...nested } });
      const places = ['.git', 'deep/er/.git'];
      await repository.run(places.map((at) => `mv ${at}/HEAD ${at}/aside`).join('; '));
      await repository.reopen();
      const evil = places.map(
        (at) => `echo evil > ${at}/hooks/pre-commit; echo evil > ${at}/config; mv ${at}/aside ${at}/HEAD`,
      );
      await repository.run(evil.join('; '));
      return verdict(heldFiles.map(([path, text]) => changed(repository, path, text)));
    },
  },
  {
    id: 'A17',
    title: 'a hook where there was no directory for hooks yet',
    guards: ['control-files'],
    async attempt(ground) {
      const { '.git/hooks/pre-commit': _, ...bare } = git;
      const repository = await ground.open({ tree: bare });
      const { outside } = repository;
      await repository.run(`mkdir .git/hooks; echo evil > .git/hooks/pre-commit; rmdir .git/hooks; ln -s ${outside} .git/hooks
        mkdir evil && echo evil > evil/pre-commit && mv -T evil .git/hooks; echo ../evil > .git/commondir`);
      const hooks = join(repository.workspace, '.git/hooks');
      return verdict(
        lstatSync(hooks).isSymbolicLink() && 'the hooks are a link now',
        readdirSync(hooks).map((name) => `the hook ${name} was made`),
        changed(repository, '.git/commondir', '.\n'),
      );
    },
  },
  {
    id: 'A18',
    title: 'a control directory that was a link out before the sandbox opened',
    guards: ['mounts', 'control-files'],
    async attempt(ground) {
      const repository = await ground.open({ tree: { '.git/HEAD': '', '.git/config': '', '.git/objects/x': '' } });
      const { outside, workspace } = repository;
      symlinkSync(outside, join(workspace, '.git/hooks'));
      symlinkSync(outside, join(workspace, '.vscode'));
      const command = `cat .git/hooks/* .vscode/*; echo evil > .git/hooks/pre-commit; echo evil > .vscode/tasks.json`;
      return verdict(await attemptCalls(repository, [['bash', { command }]], { mayAnswer: true }));
    },
  },
  {
    id: 'A19',
    title: 'an archive whose entries climb out or go through a link',
    guards: ['mounts'],
    async attempt(ground) {
      const changes = watchOver(ground.outside);
      const { outside } = ground;
      await ground.run(`mkdir -p made/way; echo evil > made/way/new; ln -s ${outside} way; tar -cf a.tar way
        tar -C made -rf a.tar way/new; tar -Prf a.tar --transform 's,^made/way,${outside},' made/way/new
        tar -Prf a.tar --transform 's,^made/way,../../../../../../..${outside},' made/way/new; rm -r way
        mkdir to; tar -C to -Pxf a.tar; tar -C to -xf a.tar; tar -C to --keep-directory-symlink -Pxf a.tar`);
      return verdict(changes());
    },
  },
];

function changed({ workspace }: Ground, path: string, text: string): Problem {
  try {
    return readFileSync(join(workspace, path), 'utf8') !== text && `${path} was changed`;
  } catch {
    return `${path} is gone`;
  }
}
