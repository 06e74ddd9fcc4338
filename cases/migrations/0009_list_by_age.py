from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("cases", "0008_holds_and_notes")]

    operations = [
        migrations.AddIndex(model_name="case", index=models.Index(fields=["state_since", "id"], name="case_by_age")),
    ]
