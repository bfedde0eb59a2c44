import { defineAction } from '../define.ts'
import { output } from '../outputs.ts'
import { PAST } from '../questions/person.ts'
import { LINKEDIN_PERSON_READERS } from '../waterfalls/linkedin-person.ts'
import { linkedinProfile } from '../waterfalls/linkedin-profile.ts'

export default defineAction({
  id: 'enrich_person_linkedin_profile',
  name: 'Enrich LinkedIn profile',
  description: 'Reads the LinkedIn profile of a person.',
  category: 'people',
  ...linkedinProfile(LINKEDIN_PERSON_READERS, { example: 'https://www.linkedin.com/in/ann-lee' }),
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
})
