import { type CodeMode, codeModes } from '../../core/code/ports/language-servers.ts';
import type { Options, Values } from '../command.ts';
import { oneOf } from './sandbox-options.ts';

/** The flag of every command that starts language servers. */
export const codeOptions = {
  code: {
    type: 'string',
    value: 'MODE',
    summary:
      'how code is understood: off, syntax (parsers only), safe (language servers that run no code of the workspace, the ' +
      'default with --readonly) or full (all of them, in a read-only sandbox without network; the default)',
  },
} as const satisfies Options;

export function toCodeMode({ code }: Values<typeof codeOptions>): CodeMode | undefined {
  return code === undefined ? undefined : oneOf('code', codeModes, code);
}
