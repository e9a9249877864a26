import { signal } from '@preact/signals';
import { areKeysOn, setKeys } from '../browser/shortcuts.ts';
import { Dialog } from '../parts/dialog.tsx';

export const isHelpOpen = signal(false);

const keys: readonly (readonly [keys: string, does: string])[] = [
  ['g n', 'Now'],
  ['g a', 'Approvals'],
  ['g w', 'Workspaces'],
  ['g g', 'Agents'],
  ['g m', 'Machines'],
  ['g u', 'Audit'],
  ['j k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['Esc', 'close it'],
  ['/', 'find in the page'],
  ['Ctrl K', 'jump anywhere'],
  ['A', 'approve this call once'],
  ['S', 'approve the same call for its session'],
  ['D', 'deny, with a reason'],
  ['u', 'undo the call of the row; asks first'],
  ['t', 'terminal where the call was'],
];

export function KeysHelp() {
  const close = () => {
    isHelpOpen.value = false;
  };
  return (
    <Dialog title="Keyboard" onClose={close}>
      <h2>Keyboard</h2>
      <dl class="keys">
        {keys.map(([key, does]) => (
          <div key={key}>
            <dt>
              {key.split(' ').map((part) => (
                <kbd key={part}>{part}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <label class="check">
        <input type="checkbox" checked={areKeysOn.value} onChange={(event) => setKeys(event.currentTarget.checked)} />
        Keys without Ctrl act
      </label>
      <div class="actions">
        <button type="button" class="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
