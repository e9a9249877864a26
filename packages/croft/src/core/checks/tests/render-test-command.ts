/**
 * Makes a command and its output fit to show: without Croft's report file and without the shell that Croft puts around
 * a command.
 */

const reportName = 'croft-report-';

export function toReportFile(temporaryPath: string): string {
  return `${temporaryPath}/${reportName}${crypto.randomUUID()}`;
}

/** Removes the options that tell a test runner where to leave its report. */
export function withoutReportFile(command: readonly string[], reportFile: string): readonly string[] {
  const isOption = (word: string, index: number) => command[index + 1] === reportFile && word.startsWith('-');
  return command.filter((word, index) => !word.includes(reportFile) && !isOption(word, index));
}

/** Removes the lines in which test runners say where they left Croft's report. */
export function withoutReportLines(output: string): string {
  if (!output.includes(reportName)) return output;
  return output
    .split('\n')
    .filter((line) => !line.includes(reportName))
    .join('\n');
}

/** Renders a command as one line, without a shell that Croft put around it. */
export function renderTestCommand(command: readonly string[]): string {
  const [program, option, line, , ...rest] = command;
  if (program !== 'sh' || option !== '-c' || line === undefined) return trimDashes(command).join(' ');
  return line
    .replace(/(^|&& )exec /, '$1')
    .replace('"$@"', rest.join(' '))
    .trim();
}

/** Removes a `--` that nothing follows. */
function trimDashes(command: readonly string[]): readonly string[] {
  return command.at(-1) === '--' ? command.slice(0, -1) : command;
}
