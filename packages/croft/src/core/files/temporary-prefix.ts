/** Prefix of the names of half-written files. No tool shows them. */
export const temporaryPrefix = '.croft-tmp-';
