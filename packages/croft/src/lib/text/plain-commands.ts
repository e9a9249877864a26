const maxLine = 4000;

/**
 * The commands of a line for a shell, each as its words. Those that only a shell can make sense of are left out, as
 * with a variable, a substitution or a redirection.
 */
export function toPlainCommands(line: string): string[][] {
  const commands: string[][] = [];
  let words: string[] = [];
  let isPlain = true;
  const end = () => {
    if (isPlain && words.length > 0) commands.push(words);
    words = [];
    isPlain = true;
  };
  // An operator, a quoted part, a part without quotes, or space; a stray quote is a part of its own.
  for (const [part] of line
    .slice(0, maxLine)
    .replaceAll('\\\n', ' ')
    .matchAll(/[;&|\n]+|(?:'[^']*'|"[^"]*"|[^\s;&|'"]|['"])+|\s/g)) {
    if (/^[;&|\n]/.test(part)) end();
    else if (needsShell(part)) isPlain = false;
    else if (part.trim() !== '') words.push(part.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'));
  }
  end();
  return commands;
}

function needsShell(part: string): boolean {
  const unquoted = part.replace(/'[^']*'/g, '');
  return /[$`\\]/.test(unquoted) || /[<>()'"]/.test(unquoted.replace(/"[^"]*"/g, ''));
}
