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
  synonyms: ['person profile', 'job title', 'experience', 'education', 'headline', 'extract'],
  ...linkedinProfile(LINKEDIN_PERSON_READERS, {
    address: {
      label: 'LinkedIn profile',
      help: 'The profile to read.',
      placeholder: 'https://www.linkedin.com/in/ann-lee',
    },
  }),
  outputs: {
    full_name: output.text('The name.'),
    headline: output.text('The headline of the profile.'),
    title: output.text('The current job title.'),
    company: output.text('The current company.'),
    location: output.text('The location of the person.'),
    about: output.text('The about text of the profile.'),
    connections: output.number('The number of connections.'),
    linkedin_url: output.url('Their profile.'),
    ...PAST,
    provider: output.text('The provider that answered.'),
  },
})
