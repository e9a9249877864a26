import { UsageError } from '../../lib/usage-error.ts';
import { defineCommand } from '../command.ts';
import { shellScripts } from '../completion/shell-scripts.ts';
import { exitCodes } from '../output/exit-codes.ts';

const shells = Object.keys(shellScripts) as (keyof typeof shellScripts)[];

export const completion = defineCommand({
  name: 'completion',
  usage: 'croft completion bash|zsh|fish',
  examples: [
    'croft completion bash > ~/.local/share/bash-completion/completions/croft',
    'croft completion zsh > ~/.zfunc/_croft',
    'croft completion fish > ~/.config/fish/completions/croft.fish',
  ],
  options: {},
  words: [shells],
  async run({ positionals }, { stdout }) {
    const shell = shells.find((name) => name === positionals[0]);
    if (shell === undefined || positionals.length > 1) throw new UsageError(`usage: ${completion.usage}`);
    stdout.write(shellScripts[shell]);
    return exitCodes.done;
  },
});
