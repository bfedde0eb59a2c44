import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { call, sheetCall } from '../../api/calls.ts'
import { fetchData, send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { notifyProblem } from '../../ui/toasts.tsx'

export const DEMO_NAME = 'Demo: clean leads'

const INPUTS = [
  { name: 'name', type: 'string', description: 'Full name as typed' },
  { name: 'website', type: 'url', description: '' },
  { name: 'phone', type: 'string', description: '' },
  { name: 'employees', type: 'number', description: '' },
] as const

/** The rows of the demo. One has no employees, so its formula fails; some are too small for the last action. */
const ROWS = [
  ['Dr. Ada Lovelace', 'https://www.analytical.example/engine', '+44 20 7946 0958', '240'],
  ['Hopper, Grace', 'http://compilers.example.org', '+1 202-555-0143', '1200'],
  ['Alan Mathison Turing', 'bletchley.example.net/huts', '+44 20 7946 0321', '85'],
  ['Katherine Johnson', 'https://orbits.example', '+1 (202) 555-0176', '3100'],
  ['Ludwig van Beethoven', 'www.symphony.example/9', '+49 30 901820', '12'],
  ['Hedy Lamarr', 'hopping.example.com', '+43 1 51553', '47'],
  ['Margaret Hamilton', 'https://apollo.example/guidance', '+1 617 555 0119', ''],
  ['Emmy Noether', 'symmetry.example', '+49 551 3900', '18'],
  ['Claude Shannon', 'https://bits.example/theory', '+1 908 555 0101', '560'],
  ['Barbara Liskov', 'substitution.example.edu', '+1 617-555-0188', '75'],
  ['Tim Berners-Lee Jr.', 'info.example.ch', '+41 22 767 6111', '2600'],
  ['Mary Somerville', 'https://mechanism.example', '+44 131 496 0000', '9'],
].map((values) => Object.fromEntries(values.map((value, place) => [INPUTS[place]?.name ?? '', value])))

const ACTIONS = [
  { action_id: 'normalize_domain', name: 'Domain', inputs: { value: '{{input.website}}' } },
  { action_id: 'split_full_name', name: 'Name parts', inputs: { value: '{{input.name}}' } },
  { action_id: 'parse_phone_number', name: 'Phone', inputs: { value: '{{input.phone}}' } },
  {
    action_id: 'format_data_using_js_expression',
    name: 'Size',
    inputs: {
      data_formatter:
        '{{input.employees}}.match(/\\d+/)[0] >= 1000 ? "enterprise" : {{input.employees}} >= 50 ? "mid-market" : "small"',
    },
    continue_workflow_if_action_fails: true,
    note: 'One row has no number of employees, so the formula fails there. To fix it, replace the first {{input.employees}} with ({{input.employees}} || "0").',
  },
  {
    action_id: 'format_data_using_js_expression',
    name: 'Greeting',
    inputs: {
      data_formatter:
        '"Hello " + {{split_full_name_1.first}} + ", how is " + {{normalize_domain_1.domain}} + "?"',
    },
    run_if: {
      conditions: [
        {
          conditions: [
            {
              variable: '{{format_data_using_js_expression_1.formatted_data}}',
              operator: 'is not',
              values: ['small'],
            },
          ],
        },
      ],
    },
  },
]

/** Opens the existing demo workflow, or creates and runs one. It needs no key and no network, and costs 0 credits. */
export function useOpenDemo() {
  const queries = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: async () => {
      const workflows = await fetchData(call('GET /internal/workflows'))
      const known = workflows.find(({ name }) => name === DEMO_NAME)
      return known?.workflow_id ?? (await makeDemo())
    },
    onSuccess: async (id) => {
      await queries.invalidateQueries({ queryKey: keys.workflows })
      await navigate({
        to: '/workflows/$workflowId/sheets/$sheetId',
        params: { workflowId: id, sheetId: id },
      })
    },
    onError: notifyProblem,
  })
}

async function makeDemo(): Promise<string> {
  const { workflow_id: id } = await fetchData(call('POST /workflows', { body: { name: DEMO_NAME } }))
  const sheet = { workflowId: id, sheetId: id }
  await send(sheetCall(sheet, 'POST /inputs', { body: INPUTS }))
  for (const action of ACTIONS) await send(sheetCall(sheet, 'POST /actions/add', { body: action }))
  await send(sheetCall(sheet, 'POST /rows', { body: { rows: ROWS, run_after_add: 'all' } }))
  return id
}
