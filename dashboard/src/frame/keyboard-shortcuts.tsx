import { Dialog } from '../ui/dialog.tsx'

const KEYS: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  [
    'Everywhere',
    [
      ['Ctrl K', 'Command palette'],
      ['?', 'Keyboard shortcuts'],
      ['Esc', 'Close the open dialog or panel'],
    ],
  ],
  [
    'In a sheet',
    [
      ['Arrows', 'Move'],
      ['Shift + arrows', 'Select a range'],
      ['Home, End', 'First or last cell of the row'],
      ['Ctrl Home, Ctrl End', 'First or last cell of the sheet'],
      ['Enter, F2', 'Edit an input or open a cell'],
      ['Space', 'Open the page of the row'],
      ['Shift + Space', 'Select the row'],
      ['Ctrl A', 'Select all rows'],
      ['Ctrl C, Ctrl V', 'Copy and paste as in a spreadsheet'],
      ['Delete', 'Clear the selected inputs'],
      ['Ctrl D', 'Fill down'],
      ['Ctrl F', 'Find'],
      ['Ctrl Z, Ctrl Y', 'Undo, redo'],
      ['Ctrl Enter', 'Run the selected rows or the current row'],
      ['E', 'Next failed cell'],
    ],
  ],
]

export function KeyboardShortcuts({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Keyboard shortcuts">
      {KEYS.map(([place, keys]) => (
        <section key={place} aria-label={place}>
          <h3 className="mb-1 text-12 font-semibold text-muted">{place}</h3>
          <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
            {keys.map(([key, meaning]) => (
              <div key={key} className="contents">
                <dt>
                  <kbd className="rounded border bg-subtle px-1.5 py-0.5 font-mono text-11">{key}</kbd>
                </dt>
                <dd>{meaning}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  )
}
