/** A table whose cells may hold anything but a line break. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(toCell).join(' | ')} |`);
  return `${lines.join('\n')}\n`;
}

export const generatedNote = '<!-- Made by `npm run generate`. Change the code instead. -->\n';

/** A `<` outside of code would begin an HTML tag. */
function toCell(cell: string): string {
  const parts = cell.split(/(`[^`]*`)/).map((part) => (part.startsWith('`') ? part : part.replaceAll('<', '\\<')));
  return parts.join('').replaceAll('|', '\\|').replaceAll('\n', ' ');
}
