/** Vite puts styles into files of their own. */
declare module '*.css';
