/** The title of the page. Its views come with the records they show. */
export const title = 'Croft';
