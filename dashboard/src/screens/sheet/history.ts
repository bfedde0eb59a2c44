import { createStore } from 'zustand'

/** A change that can be undone and redone. The server may refuse either. Its name says what it did: `delete 2 rows`. */
export type Step = { name: string; undo: () => Promise<void>; redo: () => Promise<void> }

const MAX_STEPS = 100

type History = {
  pending: Set<Promise<unknown>>
  past: readonly Step[]
  future: readonly Step[]
  push: (step: Step) => void
  /** Registers a change that becomes a step once the server has it. Undo waits for it, so that it does not undo the step before. */
  hold: (change: Promise<unknown>) => void
  /** Adds the changes made before this page was opened, unless there are steps already. */
  seed: (past: readonly Step[], future: readonly Step[]) => void
  /** Undoes the latest step and returns it. */
  undo: () => Promise<Step | undefined>
  redo: () => Promise<Step | undefined>
}

export const createHistory = () =>
  createStore<History>((set, get) => ({
    pending: new Set(),
    past: [],
    future: [],
    push: (step) => set(({ past }) => ({ past: [...past, step].slice(-MAX_STEPS), future: [] })),
    hold: (change) => {
      get().pending.add(change)
      const release = () => void get().pending.delete(change)
      change.then(release, release)
    },
    seed: (past, future) =>
      set((now) => (now.past.length + now.future.length === 0 ? { past, future } : now)),
    undo: async () => {
      await Promise.allSettled(get().pending)
      const step = get().past.at(-1)
      if (step === undefined) return undefined
      set(({ past, future }) => ({ past: past.slice(0, -1), future: [...future, step] }))
      await step.undo()
      return step
    },
    redo: async () => {
      await Promise.allSettled(get().pending)
      const step = get().future.at(-1)
      if (step === undefined) return undefined
      set(({ past, future }) => ({ past: [...past, step], future: future.slice(0, -1) }))
      await step.redo()
      return step
    },
  }))
