import {
  type DefinitionChange,
  type DefinitionPlan,
  type Loam,
  ValidationError,
} from '../../sdk/src/index.ts'
import { colors } from '../output.ts'
import { type ReadFile, throwLocated } from './workflow-file.ts'

export type FilePlan = { read: ReadFile; plan: DefinitionPlan }
export type Summary = DefinitionPlan['summary']

/** Plans every file. Throws the errors of all files at once, by their places. */
export async function planFiles(
  loam: Loam,
  files: ReadFile[],
  workflow_id: string | undefined,
): Promise<FilePlan[]> {
  const target = workflow_id === undefined ? {} : { workflow_id }
  const problems: string[] = []
  const plans: FilePlan[] = []
  for (const read of files) {
    try {
      const plan = await loam.definitions.plan({ definition: read.definition, ...target })
      plans.push({ read, plan })
    } catch (cause) {
      if (!(cause instanceof ValidationError) || cause.errors.length === 0) throw cause
      problems.push(...cause.errors.map(read.locate))
    }
  }
  throwLocated(problems)
  return plans
}

export function addUp(plans: { plan: DefinitionPlan }[]): Summary {
  const summary = { add: 0, change: 0, destroy: 0 }
  for (const { plan } of plans) {
    summary.add += plan.summary.add
    summary.change += plan.summary.change
    summary.destroy += plan.summary.destroy
  }
  return summary
}

/** Returns the changes for programs. */
export const toData = (plans: FilePlan[]) => ({
  files: plans.map(({ read: { file }, plan: { workflow, changes } }) => ({ file, workflow, changes })),
  summary: addUp(plans),
})

/** Formats the changes for people, file by file, with the counts of all. */
export function formatPlans(plans: FilePlan[]): string {
  const changed = plans.filter(({ plan }) => plan.changes.length > 0)
  if (changed.length === 0) return 'No changes.'
  const parts = changed.map(({ read, plan }) =>
    [colors.bold(`${read.file} (${plan.workflow})`), ...plan.changes.map(formatChange)].join('\n'),
  )
  const { add, change, destroy } = addUp(plans)
  return [...parts, `Plan: ${add} to add, ${change} to change, ${destroy} to destroy.`].join('\n\n')
}

function formatChange({ op, kind, name, field, before, after }: DefinitionChange): string {
  const what = `${kind} ${JSON.stringify(name)}`
  switch (op) {
    case 'add':
      return colors.green(`+ ${what}`)
    case 'destroy':
      return colors.red(`- ${what}`)
    case 'move':
      return colors.yellow(`~ ${what} moved`)
    case 'rename':
    case 'change': {
      const label = op === 'rename' ? 'name' : (field ?? '')
      return colors.yellow(`~ ${what} ${label}: ${show(before)} → ${show(after)}`)
    }
  }
}

const show = (value: unknown) => (value === undefined ? 'default' : JSON.stringify(value))
