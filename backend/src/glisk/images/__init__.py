"""What a picture is: its format, its mark, its look."""
