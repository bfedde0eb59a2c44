import { createStore } from 'zustand'

/** A change that can be taken back. Both may be refused by the server. */
export type Step = { name: string; undo: () => Promise<void>; redo: () => Promise<void> }

const MAX_STEPS = 100

type History = {
  past: readonly Step[]
  future: readonly Step[]
  push: (step: Step) => void
  /** What was changed before this page was opened; nothing when something has been changed since. */
  seed: (past: readonly Step[], future: readonly Step[]) => void
  undo: () => Promise<void>
  redo: () => Promise<void>
}

export const createHistory = () =>
  createStore<History>((set, get) => ({
    past: [],
    future: [],
    push: (step) => set(({ past }) => ({ past: [...past, step].slice(-MAX_STEPS), future: [] })),
    seed: (past, future) =>
      set((now) => (now.past.length + now.future.length === 0 ? { past, future } : now)),
    undo: async () => {
      const step = get().past.at(-1)
      if (step === undefined) return
      set(({ past, future }) => ({ past: past.slice(0, -1), future: [...future, step] }))
      await step.undo()
    },
    redo: async () => {
      const step = get().future.at(-1)
      if (step === undefined) return
      set(({ past, future }) => ({ past: [...past, step], future: future.slice(0, -1) }))
      await step.redo()
    },
  }))
