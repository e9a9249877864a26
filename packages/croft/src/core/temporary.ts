/** How the names of half-written files begin. They are nobody's files, and no tool shows them. */
export const temporaryPrefix = '.croft-tmp-';
