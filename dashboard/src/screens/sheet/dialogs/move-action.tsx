import { useMutation } from '@tanstack/react-query'
import { Dialog } from '../../../ui/dialog.tsx'
import { plural } from '../../../ui/figure.ts'
import { moveInChain } from '../chain-changes.ts'
import type { ChainMove } from '../chain.ts'
import { useSheet } from '../sheet-view.ts'

/** The dialog before a move that breaks references. Moving changes no configuration. */
export function MoveAction({ move, onClose }: { move: ChainMove; onClose: () => void }) {
  const view = useSheet()
  const moving = useMutation({ mutationFn: () => moveInChain(view, move), onSuccess: onClose })
  const { action, after, broken } = move
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Move ${action.name}`}
      description={`It would run ${after === null ? 'first' : `after ${after.name}`}. Moving changes no configuration, so ${plural(broken.length, 'reference')} would lead to an action that has not run yet:`}
      submit={{ label: 'Move', onSubmit: () => moving.mutate(), busy: moving.isPending }}
      error={moving.error}
    >
      <ul aria-label="Broken references" className="list-disc pl-5">
        {broken.map(({ by, to }) => (
          <li key={`${by} ${to}`}>
            {by} uses {to}
          </li>
        ))}
      </ul>
    </Dialog>
  )
}
