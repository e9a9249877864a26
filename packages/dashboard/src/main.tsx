import './look/tokens.css';
import './look/base.css';
import './look/shell.css';
import './look/parts.css';
import './look/pages.css';
import { render } from 'preact';
import { followLinks } from './browser/router.ts';
import { applyTheme } from './browser/theme.ts';
import { findOwnHost, startSession } from './server/session.ts';
import { Shell } from './shell/shell.tsx';

const elsewhere = findOwnHost(location);
const root = document.getElementById('root');
if (elsewhere !== undefined) location.replace(elsewhere);
else if (root) {
  applyTheme();
  followLinks();
  void startSession();
  render(<Shell />, root);
}
