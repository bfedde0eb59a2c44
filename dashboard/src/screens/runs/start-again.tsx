import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Call, dryRun } from '../../api/calls.ts'
import { fetchData, fieldProblem, send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import type { Estimate } from '../../api/sheet.ts'
import { CopyAsCurl } from '../../ui/copy-button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { plural } from '../../ui/figure.ts'
import { Problem } from '../../ui/problem.tsx'
import { SpendAtMost, spending } from '../../ui/spend-at-most.tsx'

/** The dialog before rows run again. It shows the estimated cost and offers a credit limit. */
export function StartAgain({
  title,
  verb,
  again,
  hint,
  onStarted,
  onClose,
}: {
  title: string
  verb: string
  /** Returns the call that runs the rows, with the credit limit as its body if there is one. */
  again: (limit: { max_credits?: number }) => Call<{ rows_queued: number }, Estimate>
  hint?: string
  onStarted: (rows: number) => void
  onClose: () => void
}) {
  const [cap, setCap] = useState('')
  const estimate = dryRun(again({}))
  const price = useQuery({
    queryKey: keys.estimate(estimate),
    queryFn: () => fetchData(estimate),
    staleTime: 0,
    gcTime: 0,
  })
  const run = again(spending(cap))
  const start = useMutation({
    mutationFn: () => send(run),
    onSuccess: ({ data }) => {
      onStarted(data.rows_queued)
      onClose()
    },
  })
  const problem = fieldProblem(start.error, 'max_credits')
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      submit={{ label: verb, onSubmit: () => start.mutate(), busy: start.isPending }}
      footer={<CopyAsCurl call={run} />}
      error={problem === undefined ? start.error : null}
    >
      {price.error !== null && <Problem error={price.error} onRetry={() => void price.refetch()} />}
      {price.data === undefined && price.error === null && (
        <p role="status" className="text-muted">
          Estimating…
        </p>
      )}
      {price.data !== undefined && (
        <div>
          <p className="text-14 font-medium">
            {price.data.credits.at_most === null
              ? 'Estimate: no upper limit known'
              : `Estimate: at most ${plural(price.data.credits.at_most, 'credit')}`}
          </p>
          <p>{`Balance: ${plural(price.data.balance.now, 'credit')}`}</p>
        </div>
      )}
      <SpendAtMost
        value={cap}
        onChange={setCap}
        problem={problem}
        {...(hint === undefined ? {} : { hint })}
      />
    </Dialog>
  )
}
