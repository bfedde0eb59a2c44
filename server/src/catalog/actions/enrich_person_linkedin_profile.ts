import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { output } from '../outputs.ts'
import { runWaterfall, toOutcome } from '../provider/waterfall-run.ts'
import { apifyLinkedinPerson } from '../providers/apify/linkedin-person.ts'
import { crustdataLinkedinPerson } from '../providers/crustdata/linkedin-person.ts'
import { PAST } from '../questions/person.ts'

const SOURCES = [apifyLinkedinPerson, crustdataLinkedinPerson]

export default defineAction({
  id: 'enrich_person_linkedin_profile',
  name: 'Enrich LinkedIn profile',
  description: 'Reads the LinkedIn profile of a person.',
  category: 'people',
  credits: 0,
  timeoutSeconds: 240,
  inputs: {
    linkedin_url: field.text({
      type: 'url',
      required: true,
      description: 'https://www.linkedin.com/in/ann-lee',
    }),
    providers: field.waterfall({
      providers: SOURCES.map(({ option }) => option),
      default: SOURCES.map(({ provider }) => provider.id),
      description: 'Who is asked, in order.',
    }),
  },
  outputs: {
    full_name: output.text('The name.'),
    headline: output.text('What they call themselves.'),
    title: output.text('What they do now.'),
    company: output.text('Where they do it.'),
    location: output.text('Where they are.'),
    about: output.text('What they say of themselves.'),
    connections: output.number('How many they are connected with.'),
    linkedin_url: output.url('Their profile.'),
    ...PAST,
    provider: output.text('Who knew it.'),
  },
  async run({ inputs, context }) {
    const result = await runWaterfall({
      steps: inputs.providers,
      adapters: SOURCES,
      input: { linkedin_url: inputs.linkedin_url.trim() },
      context,
      state: context.state,
    })
    return toOutcome(result, ({ value, provider }) => ({ ...value, provider }))
  },
})
