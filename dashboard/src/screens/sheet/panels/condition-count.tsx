import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { sheetCall } from '../../../api/calls.ts'
import { fetchData } from '../../../api/client.ts'
import { keys } from '../../../api/keys.ts'
import { figure, plural } from '../../../ui/figure.ts'
import { type ConditionGroup, printGroups } from '../conditions.ts'
import { useSheet } from '../sheet-view.ts'

/** The pause in typing after which the rows are counted again. */
const TYPING_MS = 300

/** The number of rows of a sample that meet the conditions. */
export function ConditionCount({ groups }: { groups: readonly ConditionGroup[] }) {
  const { sheet } = useSheet()
  const text = JSON.stringify(printGroups(groups))
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  const conditions: unknown = JSON.parse(settled)
  const call = sheetCall(sheet, 'POST /conditions/check', { body: { run_if: { conditions } } })
  const { data } = useQuery({
    queryKey: keys.estimate(call),
    enabled: settled === text && groups.length > 0,
    retry: false,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => fetchData(call, { signal }),
  })
  if (groups.length === 0) return null
  return (
    <p role="status" aria-label="Rows that meet the condition" className="min-h-4 text-12 text-muted">
      {data === undefined || data.looked_at === 0
        ? ''
        : `${figure(data.passed)} of ${plural(data.looked_at, 'row')} pass`}
    </p>
  )
}
