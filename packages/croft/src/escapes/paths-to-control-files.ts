import { existsSync, lstatSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { attemptCalls } from './attack-calls.ts';
import type { Escape, EscapeFixture } from './escape.ts';
import { findObeyed } from './git-attempts.ts';
import { type Problem, toVerdict } from './to-verdict.ts';
import { watchDirectory } from './watch-outside-workspace.ts';

const git = {
  '.git/HEAD': 'ref: refs/heads/main\n',
  '.git/config': '[core]\n\tbare = false\n',
  '.git/hooks/pre-commit': 'as it was\n',
  '.git/objects/x': '',
};
const nested = Object.fromEntries(Object.entries(git).map(([path, text]) => [`deep/er/${path}`, text]));

const guardedFiles = Object.entries({ ...git, ...nested }).filter(([path]) => /config$|hooks/.test(path));

/** Control files reached by detours. */
export const pathsToControlFiles: readonly Escape[] = [
  {
    id: 'A13b',
    title: 'more control files than there is room to hold',
    guards: ['control-files'],
    async attempt(fixture) {
      const crowd = await fixture.open({});
      const make = 'mkdir -p $at/.git/objects $at/.git/refs; echo ref: refs/heads/main > $at/.git/HEAD';
      await crowd.run(`for at in d{1..1100}; do ${make}; done 2>/dev/null; exit 0`);
      await crowd.reopen();
      // The sandbox may refuse to open, or guard all of them.
      await crowd.call('bash', { command: 'for at in d*; do echo evil > $at/.git/config; done' });
      const repositories = readdirSync(crowd.workspace).map((name) => join(crowd.workspace, name, '.git'));
      const isRepository = (path: string) => existsSync(join(path, 'refs')) && existsSync(join(path, 'objects'));
      return toVerdict(
        repositories
          .filter(isRepository)
          .map((path) => readFileSync(join(path, 'config'), 'utf8') !== '' && `${path} was changed`),
      );
    },
  },
  {
    id: 'A16',
    title: 'a control file reached by renaming what is above it',
    guards: ['control-files'],
    async attempt(fixture) {
      const repository = await fixture.open({ tree: { ...git, ...nested } });
      const names = ['.git/hooks', '.git', 'deep/er/.git/hooks', 'deep/er/.git', 'deep/er', 'deep'];
      const moves = names.map((name, index) => `mv ${name} t${index} && mkdir -p ${name} && cp -r t${index}/. ${name}`);
      const swaps = ['.git', 'deep/er/.git'].map((name) => `echo evil > ${name}/hooks/pre-commit`);
      await repository.run([...moves, ...swaps, 'for at in t*; do echo evil > $at/pre-commit; done'].join('\n'));
      const own = guardedFiles.filter(([path]) => path.startsWith('.git/'));
      return toVerdict(
        own.map(([path, text]) => changed(repository, path, text)),
        findObeyed(join(repository.workspace, 'deep/er/.git'), ['pre-commit']),
      );
    },
  },
  {
    id: 'A16b',
    title: 'the hooks of a repository that an earlier sandbox made unlike one',
    guards: ['control-files'],
    async attempt(fixture) {
      const repository = await fixture.open({ tree: { ...git, ...nested } });
      const directories = ['.git', 'deep/er/.git'];
      await repository.run(directories.map((at) => `mv ${at}/HEAD ${at}/aside`).join('; '));
      await repository.reopen();
      const evil = directories.map(
        (at) => `echo evil > ${at}/hooks/pre-commit; echo evil > ${at}/config; mv ${at}/aside ${at}/HEAD`,
      );
      await repository.run(evil.join('; '));
      return toVerdict(guardedFiles.map(([path, text]) => changed(repository, path, text)));
    },
  },
  {
    id: 'A17',
    title: 'a hook where there was no directory for hooks yet',
    guards: ['control-files'],
    async attempt(fixture) {
      const { '.git/hooks/pre-commit': _, ...bare } = git;
      const repository = await fixture.open({ tree: bare });
      const { outside } = repository;
      await repository.run(`mkdir .git/hooks; echo evil > .git/hooks/pre-commit; rmdir .git/hooks; ln -s ${outside} .git/hooks
        mkdir evil && echo evil > evil/pre-commit && mv -T evil .git/hooks; echo ../evil > .git/commondir`);
      const hooks = join(repository.workspace, '.git/hooks');
      return toVerdict(
        lstatSync(hooks).isSymbolicLink() && 'the hooks are a link now',
        readdirSync(hooks).map((name) => `the hook ${name} was made`),
      );
    },
  },
  {
    id: 'A18',
    title: 'a control directory that was a link out before the sandbox opened',
    guards: ['mounts', 'control-files'],
    async attempt(fixture) {
      const repository = await fixture.open({ tree: { '.git/HEAD': '', '.git/config': '', '.git/objects/x': '' } });
      const { outside, workspace } = repository;
      symlinkSync(outside, join(workspace, '.git/hooks'));
      symlinkSync(outside, join(workspace, '.vscode'));
      const command = `cat .git/hooks/* .vscode/*; echo evil > .git/hooks/pre-commit; echo evil > .vscode/tasks.json`;
      return toVerdict(await attemptCalls(repository, [['bash', { command }]], { mayAnswer: true }));
    },
  },
  {
    id: 'A19',
    title: 'an archive whose entries climb out or go through a link',
    guards: ['mounts'],
    async attempt(fixture) {
      const changes = watchDirectory(fixture.outside);
      const { outside } = fixture;
      await fixture.run(`mkdir -p made/way; echo evil > made/way/new; ln -s ${outside} way; tar -cf a.tar way
        tar -C made -rf a.tar way/new; tar -Prf a.tar --transform 's,^made/way,${outside},' made/way/new
        tar -Prf a.tar --transform 's,^made/way,../../../../../../..${outside},' made/way/new; rm -r way
        mkdir to; tar -C to -Pxf a.tar; tar -C to -xf a.tar; tar -C to --keep-directory-symlink -Pxf a.tar`);
      return toVerdict(changes());
    },
  },
];

function changed({ workspace }: EscapeFixture, path: string, text: string): Problem {
  try {
    return readFileSync(join(workspace, path), 'utf8') !== text && `${path} was changed`;
  } catch {
    return `${path} is gone`;
  }
}
