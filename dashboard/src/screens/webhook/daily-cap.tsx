import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { sheetCall, type SheetId } from '../../api/calls.ts'
import { fieldProblem, send } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { plural } from '../../ui/figure.ts'
import { Problem } from '../../ui/problem.tsx'
import { SpendAtMost } from '../../ui/spend-at-most.tsx'
import { notify } from '../../ui/toasts.tsx'

/** The form for the daily credit limit of a webhook. It is needed because anyone who knows the address can send rows. */
export function DailyCap({
  sheet,
  cap,
  canWrite,
  onSaved,
}: {
  sheet: SheetId
  cap: number | null
  canWrite: boolean
  onSaved: () => Promise<void>
}) {
  const [typed, setTyped] = useState(cap?.toString() ?? '')
  const save = useMutation({
    mutationFn: () =>
      send(
        sheetCall(sheet, 'POST /internal/webhook', {
          body: { max_credits_per_day: typed.trim() === '' ? null : Number(typed) },
        }),
      ),
    onSuccess: async () => {
      await onSaved()
      notify(
        typed.trim() === ''
          ? 'Removed the daily credit limit'
          : `Saved daily limit: ${plural(Number(typed), 'credit')}`,
      )
    },
  })
  const problem = fieldProblem(save.error, 'max_credits_per_day')
  return (
    <form
      noValidate
      className="flex max-w-[440px] flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate()
      }}
    >
      <SpendAtMost
        value={typed}
        {...(canWrite ? { onChange: setTyped } : {})}
        problem={problem}
        hint="Credit limit per day (UTC) for rows that arrive here (optional)"
      />
      {save.error !== null && problem === undefined && (
        <Problem error={save.error} onRetry={() => save.mutate()} />
      )}
      {canWrite && (
        <div>
          <Button type="submit" busy={save.isPending} disabled={typed === (cap?.toString() ?? '')}>
            Save limit
          </Button>
        </div>
      )}
    </form>
  )
}
