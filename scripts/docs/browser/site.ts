import { connectSearch } from './search.ts';
import { connectTheme } from './theme.ts';

connectTheme();
connectSearch();
