import './look/tokens.css';
import './look/base.css';
import './look/shell.css';
import './look/parts.css';
import './look/pages.css';
import { render } from 'preact';
import { findOwnHost, startSession } from './server/session.ts';
import { followLinks } from './shell/router.ts';
import { Shell } from './shell/shell.tsx';
import { applyTheme } from './shell/theme.ts';

const elsewhere = findOwnHost(location);
const root = document.getElementById('root');
if (elsewhere !== undefined) location.replace(elsewhere);
else if (root) {
  applyTheme();
  followLinks();
  void startSession();
  render(<Shell />, root);
}
