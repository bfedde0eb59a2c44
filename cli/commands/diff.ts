import type { Command } from 'commander'
import { z } from 'zod'
import { Uuid } from '#contract/envelope.ts'
import { EXIT } from '../failure.ts'
import { examples } from '../flags.ts'
import { onServer } from '../remote/action.ts'
import { formatPlans, planFiles, toData } from '../remote/plans.ts'
import { addTarget } from '../remote/target.ts'
import { readWorkflowFiles } from '../remote/workflow-file.ts'

const Flags = z.strictObject({
  url: z.string().optional(),
  key: z.string().optional(),
  paths: z.string().optional(),
  workflow: Uuid.optional(),
  exitCode: z.boolean().optional(),
})

export function define(diff: Command): void {
  addTarget(diff)
    .description('Show how workflow files differ from the server, and change nothing')
    .argument('[paths...]', 'files or folders; workflows by default')
    .option('--workflow <id>', 'compare with this workflow instead of the one of the same name')
    .option('--exit-code', 'exit with 9 if there are differences')
    .addHelpText('after', examples('loam diff', 'loam diff workflows/leads.yaml --exit-code'))
    .action(
      onServer(Flags, async ({ loam, flags, names }) => {
        const plans = await planFiles(loam, readWorkflowFiles(names), flags.workflow)
        const differs = plans.some(({ plan }) => plan.changes.length > 0)
        const exit = flags.exitCode === true && differs ? { exit: EXIT.differences } : {}
        return { data: toData(plans), text: () => formatPlans(plans), ...exit }
      }),
    )
}
