"""All of a Glisk in one file, and back: the database, the pictures, and what an embedded chain stands on."""
