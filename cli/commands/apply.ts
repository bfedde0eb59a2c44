import type { Command } from 'commander'
import { z } from 'zod'
import { Uuid } from '#contract/envelope.ts'
import { validationError } from '#server/lib/errors.ts'
import { examples } from '../flags.ts'
import type { CommandOutput } from '../output.ts'
import { onServer, type Remote } from '../remote/action.ts'
import { type FilePlan, formatPlans, planFiles, toData } from '../remote/plans.ts'
import { canAsk, confirm } from '../remote/questions.ts'
import { addTarget } from '../remote/target.ts'
import { readWorkflowFiles } from '../remote/workflow-file.ts'

const Flags = z.strictObject({
  url: z.string().optional(),
  key: z.string().optional(),
  paths: z.string().optional(),
  workflow: Uuid.optional(),
  yes: z.boolean().optional(),
  allowDestroy: z.boolean().optional(),
})
type ApplyFlags = z.infer<typeof Flags>

export function define(apply: Command): void {
  addTarget(apply)
    .description('Change workflows to what their files say; an error in any file applies none')
    .argument('[paths...]', 'files or folders; workflows by default')
    .option('--workflow <id>', 'change this workflow instead of the one of the same name')
    .option('--yes', 'apply without a question')
    .option('--allow-destroy', 'also remove inputs, actions and child sheets that the file does not have')
    .addHelpText('after', examples('loam apply workflows/leads.yaml', 'loam apply --yes --allow-destroy'))
    .action(onServer(Flags, applyFiles))
}

async function applyFiles(remote: Remote<ApplyFlags>): Promise<CommandOutput> {
  const { loam, flags, names } = remote
  const plans = await planFiles(loam, readWorkflowFiles(names), flags.workflow)
  const changed = plans.filter(({ plan }) => plan.changes.length > 0)
  if (changed.length === 0) return { data: { ...toData(plans), applied: false }, text: () => 'No changes.' }
  await requireConsent(remote, changed)
  for (const { read, plan } of changed) {
    await loam.definitions.apply({
      definition: read.definition,
      ...(plan.workflow_id === null ? {} : { workflow_id: plan.workflow_id }),
      ...(plan.summary.destroy > 0 ? { allow_destroy: true } : {}),
    })
  }
  return {
    data: { ...toData(plans), applied: true },
    text: () => `${formatPlans(plans)}\n\nApplied.`,
  }
}

/** Asks for consent, or throws if it was not given and cannot be asked for. */
async function requireConsent({ flags, terminal }: Remote<ApplyFlags>, plans: FilePlan[]): Promise<void> {
  const destroying = flags.allowDestroy === true ? [] : plans.filter(({ plan }) => plan.summary.destroy > 0)
  if (!canAsk(terminal)) {
    throwMissing([
      ...destroying.map(({ read, plan }) => ({
        field: '--allow-destroy',
        message: `needed, because ${read.file} would remove ${listDestroyed(plan.changes)}`,
      })),
      ...(flags.yes === true ? [] : [{ field: '--yes', message: 'needed where nobody can be asked' }]),
    ])
    return
  }
  terminal.stderr.write(`${formatPlans(plans)}\n\n`)
  for (const { plan } of destroying) {
    const question = `This removes ${listDestroyed(plan.changes)}. Type the name of the workflow to allow it: `
    const isNamed = await confirm(terminal, question, plan.workflow)
    if (!isNamed) throwMissing([{ field: '--allow-destroy', message: `not allowed for ${plan.workflow}` }])
  }
  if (flags.yes === true || (await confirm(terminal, 'Apply? Type yes: ', 'yes'))) return
  throwMissing([{ field: '--yes', message: 'not confirmed; nothing was applied' }])
}

const listDestroyed = (changes: FilePlan['plan']['changes']) =>
  changes
    .filter(({ op }) => op === 'destroy')
    .map(({ kind, name }) => `${kind} ${JSON.stringify(name)}`)
    .join(', ')

function throwMissing(errors: { field: string; message: string }[]): void {
  if (errors.length > 0) throw validationError(errors)
}
