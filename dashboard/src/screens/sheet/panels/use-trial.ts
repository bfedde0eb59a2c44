import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { z } from 'zod'
import type { CellTest as CellTestSchema } from '#contract/cell-tests.ts'
import { type Call, dryRun, type SheetBody, sheetCall } from '../../../api/calls.ts'
import { fetchData, send } from '../../../api/client.ts'
import { keys } from '../../../api/keys.ts'
import { notify, notifyProblem } from '../../../ui/toasts.tsx'
import { useSheet } from '../sheet-view.ts'

export type CellTest = z.infer<typeof CellTestSchema>

/** The action to try: one of the chain with its unsaved changes, or one that is not added yet. */
export type Tried =
  | {
      action: string
      changes: Pick<SheetBody<'POST /actions/:action_instance_id/test'>, 'inputs' | 'run_if'>
    }
  | { action: null; given: Omit<SheetBody<'POST /actions/test'>, 'row_id'> }

type Changes = Extract<Tried, { action: string }>['changes']

/** Returns the part of unsaved changes that a test takes. */
export const pickTested = ({ inputs, run_if }: Changes): Changes => ({
  ...(inputs === undefined ? {} : { inputs }),
  ...(run_if === undefined ? {} : { run_if }),
})

/** The pause in typing after which the values are resolved again. */
const TYPING_MS = 300
const POLL_MS = 1000

/** Returns a text as it was when nothing changed it for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

/** Tries an action on a row: what it would get and cost at once, and its answer when asked, or as one types if it is pure. */
export function useTrial(tried: Tried, rowId: string | null, isPure: boolean) {
  const { sheet, refresh } = useSheet()
  const call = buildTest(sheet, tried, rowId ?? '')
  const text = JSON.stringify(call)
  const settled = useSettled(text)
  const isSettled = rowId !== null && settled === text
  const foreseen = useQuery({
    queryKey: keys.estimate(dryRun(call)),
    enabled: isSettled,
    retry: false,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => fetchData(dryRun(call), { signal }),
  })
  /** The latest answer, and the configuration and row that it is of. */
  const [answer, setAnswer] = useState<{ of: string; test: CellTest } | null>(null)
  const test = useMutation({
    mutationFn: () => fetchData(call),
    onSuccess: (data) => setAnswer({ of: text, test: data }),
  })
  const isOfThis = answer !== null && answer.of === text
  const going = isOfThis && answer.test.status === 'running' ? answer.test.test_id : null
  const path = buildAnswer(sheet, tried, going ?? '')
  useQuery({
    queryKey: keys.sheet(sheet.sheetId).tested(path.path),
    enabled: going !== null,
    refetchInterval: POLL_MS,
    queryFn: async ({ signal }) => {
      const data = await fetchData(path, { signal })
      if (data.status !== 'running')
        setAnswer((now) => (now?.test.test_id === data.test_id ? { ...now, test: data } : now))
      return data
    },
  })
  const { mutate } = test
  useEffect(() => {
    if (isPure && isSettled) mutate()
  }, [isPure, isSettled, settled, mutate])
  const keep = useMutation({
    mutationFn: (testId: string) =>
      send(
        sheetCall(sheet, 'POST /actions/:action_instance_id/test/:test_id/keep', {
          params: { action_instance_id: tried.action ?? '', test_id: testId },
        }),
      ),
    onSuccess: () => {
      setAnswer((now) => (now === null ? null : { ...now, test: { ...now.test, kept: true } }))
      notify('Kept in the cell')
      refresh()
    },
    onError: (error) => notifyProblem(error),
  })
  return {
    call,
    foreseen,
    run: test,
    /** The answer of this configuration on this row. */
    answer: isOfThis ? answer.test : null,
    isRunning: test.isPending || going !== null,
    keep,
  }
}

function buildTest(sheet: Parameters<typeof sheetCall>[0], tried: Tried, row_id: string) {
  return tried.action === null
    ? sheetCall(sheet, 'POST /actions/test', { body: { ...tried.given, row_id } })
    : sheetCall(sheet, 'POST /actions/:action_instance_id/test', {
        params: { action_instance_id: tried.action },
        body: { ...tried.changes, row_id },
      })
}

function buildAnswer(sheet: Parameters<typeof sheetCall>[0], tried: Tried, test_id: string): Call<CellTest> {
  return tried.action === null
    ? sheetCall(sheet, 'GET /tests/:test_id', { params: { test_id } })
    : sheetCall(sheet, 'GET /actions/:action_instance_id/test/:test_id', {
        params: { action_instance_id: tried.action, test_id },
      })
}
