/** Whether a directory holds the documentation of the project around it. Never true of the root. */
export function isDocumentation(path: string): boolean {
  return /(?:^|\/)(?:docs?|documentation|website)$/.test(path);
}
